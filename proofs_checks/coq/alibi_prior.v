(* SPDX-License-Identifier: Apache-2.0 *)
(* ALiBi as a prior: BAM, Lemma 2 and section 2.5. *)
From Plumbline Require Import base.

(* Laplace(0, 1/m, x) = (m/2) exp(-m |x|), the density of appendix B.2. *)
Definition laplace (m x : R) : R := m / 2 * exp (- m * Rabs x).

(* BAM, Lemma 2, up to one factor c for each query: under the causal mask ALiBi's prior is
   Uniform(1, i, j) Laplace(0, 1/m, j - i); the visible keys of the query at index i are 0..i. *)
Theorem lemma_2 m : 0 < m -> forall i, exists c, 0 < c /\ forall j, (j <= i)%nat ->
  softmax (S i) (alibi m i) j = c * (/ INR (S i) * laplace m (INR j - INR i)).
Proof.
  intros Hm i.
  assert (P : 0 < sum (S i) (fun z => exp (alibi m i z))) by (apply sum_exp_pos; lia).
  assert (Q : 0 < INR (S i)) by (apply (lt_INR 0); lia).
  exists (INR (S i) * 2 / m / sum (S i) (fun z => exp (alibi m i z))); split.
  - repeat apply Rdiv_lt_0_compat; try lra; apply Rmult_lt_0_compat; lra.
  - intros j Hj; unfold softmax, laplace, alibi at 1, distance; field; repeat split; lra.
Qed.

Lemma alibi_partition m i : sum (S i) (fun z => exp (alibi m i z)) = sum (S i) (fun k => exp (- m) ^ k).
Proof.
  rewrite sum_reverse; apply sum_ext; intros k Hk.
  rewrite <- exp_times_nat; f_equal; unfold alibi; f_equal.
  rewrite distance_causal by lia; rewrite <- minus_INR by lia; f_equal; lia.
Qed.

(* What it is exactly: a truncated geometric distribution of the distance,
   p(d) = q^d (1 - q)/(1 - q^i), q = e^-m. *)
Theorem lemma_2_corrected m i d : 0 < m -> (d <= i)%nat ->
  softmax (S i) (alibi m i) (i - d) = exp (- m) ^ d * (1 - exp (- m)) / (1 - exp (- m) ^ S i).
Proof.
  intros Hm Hd; unfold softmax; rewrite alibi_partition.
  assert (q : exp (- m) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  assert (p := exp_pos (- m)).
  rewrite <- sum_geometric.
  assert (s : 0 < sum (S i) (fun k => exp (- m) ^ k)) by (apply sum_pos; [lia | intros; now apply pow_lt]).
  replace (alibi m i (i - d)) with (- m * INR d).
  - rewrite exp_times_nat; field; lra.
  - unfold alibi; f_equal; rewrite distance_causal by lia; rewrite <- minus_INR by lia; f_equal; lia.
Qed.

(* BAM, section 2.5, "a linearly increasing bias": the size of the bias, m d, rises by m > 0 with
   every step of the distance. *)
Theorem alibi_linear_bias m i j : 0 < m -> (S j <= i)%nat ->
  Rabs (alibi m i j) = Rabs (alibi m i (S j)) + m.
Proof.
  intros Hm H; unfold alibi; rewrite !distance_causal, S_INR by lia.
  assert (INR j + 1 <= INR i) by (rewrite <- S_INR; now apply le_INR).
  rewrite !Rabs_left1 by nra; ring.
Qed.

(* Appendix B.2's last equality, which drops the denominator, is refuted. *)
Theorem lemma_2_denominator_fails : exists m i j, 0 < m /\ (j <= i)%nat /\
  laplace m (INR j - INR i) / sum (S i) (fun z => laplace m (INR z - INR i)) <>
  laplace m (INR j - INR i).
Proof.
  exists 1, 0%nat, 0%nat; split; [lra|]; split; [lia|]; unfold laplace; simpl.
  replace (0 - 0) with 0 by ring; rewrite Rabs_R0, Rmult_0_r, exp_0; lra.
Qed.
