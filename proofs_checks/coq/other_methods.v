(* SPDX-License-Identifier: Apache-2.0 *)
(* T5, FIRE, Kerple, FoX and RoPE as CABLE's section 2 has them, and what it costs. *)
From Plumbline Require Import base cable.
Require Import Permutation.

(* Eq. 1: with the factor 1/sqrt(d) in W_Q, A = X W_Q (X W_K)^T + B is scaled attention with an
   additive bias, q . k / sqrt(d) + b. *)
Theorem equation_1_scale d q k b : (1 <= d)%nat ->
  dot d (fun z => q z / sqrt (INR d)) k + b = dot d q k / sqrt (INR d) + b.
Proof.
  intros Hd; unfold dot; rewrite <- sum_div; f_equal; apply sum_ext; intros; unfold Rdiv; ring.
Qed.

(* T5's bucket of a causal distance with its defaults: 32 buckets, 16 of them exact, and a largest
   distance of 128. *)
Definition t5_bucket (d : nat) : Z :=
  if (d <? 16)%nat then Z.of_nat d
  else Z.min 31 (16 + Int_part (ln (INR d / 16) / ln (128 / 16) * 16)).

(* Section 2: T5's bias is r_min(i - j, K) with a table r, for distances up to 16. *)
Theorem t5_clipped : exists K : nat, forall (r : Z -> R) i j, (j <= i)%nat -> (i - j <= 16)%nat ->
  r (t5_bucket (i - j)) = r (Z.of_nat (Nat.min (i - j) K)).
Proof.
  exists 16%nat; intros r i j Hj H; f_equal; unfold t5_bucket.
  destruct (Nat.ltb_spec (i - j) 16); [lia|].
  replace (i - j)%nat with 16%nat by lia.
  replace (INR 16 / 16) with 1 by (simpl; field).
  rewrite ln_1; unfold Rdiv; rewrite !Rmult_0_l.
  unfold Int_part; replace (up 0) with 1%Z; [reflexivity|].
  apply tech_up; simpl; lra.
Qed.

(* FIRE's psi. *)
Definition psi (c x : R) : R := ln (c * x + 1).

(* Section 2: psi increases monotonically for x >= 0, where c > 0. *)
Theorem fire_psi c x y : 0 < c -> 0 <= x < y -> psi c x < psi c y.
Proof. intros; unfold psi; apply ln_increasing; nra. Qed.

(* Kerple's bias -r_1 ln(1 + r_2 |i - j|). *)
Definition kerple (r1 r2 : R) (i j : nat) : R := - r1 * ln (1 + r2 * distance i j).

(* Section 2: some FIRE bias, f the identity, grows with the distance, for every c, L > 0, while no
   slope of ALiBi and no r_1, r_2 > 0 of Kerple does: there the bias falls with every step. *)
Theorem fire_prefers_distant i j : (j < i)%nat ->
  (exists f : R -> R, forall c L, 0 < c -> 0 < L ->
     let fire i j := f (psi c (INR i - INR j) / psi c (Rmax L (INR i))) in
     fire i (S j) < fire i j) /\
  (forall m, 0 < m -> alibi m i j < alibi m i (S j)) /\
  (forall r1 r2, 0 < r1 -> 0 < r2 -> kerple r1 r2 i j < kerple r1 r2 i (S j)).
Proof.
  intros H; assert (H' : INR (S j) <= INR i) by now apply le_INR.
  rewrite S_INR in H'; split; [|split].
  - exists (fun x => x); intros c L Hc HL fire; unfold fire.
    assert (Q : 0 < psi c (Rmax L (INR i))).
    { unfold psi; rewrite <- ln_1; apply ln_increasing; [lra|].
      assert (h := Rmax_l L (INR i)); nra. }
    apply Rmult_lt_compat_r; [now apply Rinv_0_lt_compat|].
    apply fire_psi; [assumption|]; rewrite S_INR; lra.
  - intros m Hm; unfold alibi; rewrite !distance_causal, S_INR by lia; nra.
  - intros r1 r2 H1 H2; unfold kerple; rewrite !distance_causal, S_INR by lia.
    enough (ln (1 + r2 * (INR i - (INR j + 1))) < ln (1 + r2 * (INR i - INR j))) by nra.
    apply ln_increasing; nra.
Qed.

Definition logistic (z : R) : R := / (1 + exp (- z)).

(* Section 2: FoX's bias, the sum of ln f_k over k = j + 1..i with f = logistic(z), is that of
   CABLE_NW (weights 1) with the sign of the published code and the increments softplus(-z). *)
Theorem fox z i j : (j <= i)%nat ->
  sum_from (S j) (S i) (fun k => ln (logistic (z k))) =
  published (fun k => softplus (- z k)) (fun _ => 1) i j.
Proof.
  intros H; rewrite published_causal by (assumption || (intros; left; apply softplus_pos)).
  unfold printed; rewrite prefix_difference by assumption; unfold sum_from.
  transitivity (-1 * sum (S i - S j) (fun k => softplus (- z (S j + k)%nat))); [|ring].
  rewrite <- sum_scal.
  apply sum_ext; intros k _; unfold logistic, softplus.
  rewrite ln_Rinv by (pose proof (exp_pos (- z (S j + k)%nat)); lra); ring.
Qed.

(* The two components of x rotated by the angle a. *)
Definition rotated_0 (a x y : R) : R := cos a * x - sin a * y.
Definition rotated_1 (a x y : R) : R := sin a * x + cos a * y.

(* <R_i q, R_j k> over P pairs of components with frequencies theta; q and k by their components. *)
Definition rope (P : nat) (theta q0 q1 k0 k1 : nat -> R) (i j : R) : R :=
  sum P (fun p =>
    rotated_0 (i * theta p) (q0 p) (q1 p) * rotated_0 (j * theta p) (k0 p) (k1 p) +
    rotated_1 (i * theta p) (q0 p) (q1 p) * rotated_1 (j * theta p) (k0 p) (k1 p)).

Lemma rope_by_offset P theta q0 q1 k0 k1 i j : rope P theta q0 q1 k0 k1 i j =
  sum P (fun p => (q0 p * k0 p + q1 p * k1 p) * cos ((i - j) * theta p) +
                  (q0 p * k1 p - q1 p * k0 p) * sin ((i - j) * theta p)).
Proof.
  apply sum_ext; intros p _; unfold rotated_0, rotated_1.
  replace ((i - j) * theta p) with (i * theta p - j * theta p) by ring.
  rewrite cos_minus, sin_minus; ring.
Qed.

(* Section 2: under RoPE the score is a function of the relative distance i - j. *)
Theorem rope_relative P theta q0 q1 k0 k1 i j i' j' : i - j = i' - j' ->
  rope P theta q0 q1 k0 k1 i j = rope P theta q0 q1 k0 k1 i' j'.
Proof. intros E; rewrite !rope_by_offset; now rewrite E. Qed.

(* ALiBi's article: rotating query and key by one angle phi_p in the plane of each pair leaves all
   scores as they are. *)
Theorem rope_rotation_invariance P theta phi q0 q1 k0 k1 i j :
  rope P theta (fun p => rotated_0 (phi p) (q0 p) (q1 p)) (fun p => rotated_1 (phi p) (q0 p) (q1 p))
               (fun p => rotated_0 (phi p) (k0 p) (k1 p)) (fun p => rotated_1 (phi p) (k0 p) (k1 p)) i j =
  rope P theta q0 q1 k0 k1 i j.
Proof.
  rewrite !rope_by_offset; apply sum_ext; intros p _; unfold rotated_0, rotated_1.
  assert (E : cos (phi p) * cos (phi p) + sin (phi p) * sin (phi p) = 1).
  { rewrite Rplus_comm; apply sin2_cos2. }
  set (c := cos (phi p)) in *; set (s := sin (phi p)) in *.
  replace ((c * q0 p - s * q1 p) * (c * k0 p - s * k1 p) + (s * q0 p + c * q1 p) * (s * k0 p + c * k1 p))
    with ((c * c + s * s) * (q0 p * k0 p + q1 p * k1 p)) by ring.
  replace ((c * q0 p - s * q1 p) * (s * k0 p + c * k1 p) - (s * q0 p + c * q1 p) * (c * k0 p - s * k1 p))
    with ((c * c + s * s) * (q0 p * k1 p - q1 p * k0 p)) by ring.
  rewrite E; ring.
Qed.

(* A sum over the keys does not depend on their order. *)
Lemma sum_list n f : sum n f = List.fold_right Rplus 0 (List.map f (List.seq 0 n)).
Proof.
  induction n; [reflexivity|].
  rewrite List.seq_S, List.map_app, List.fold_right_app; simpl; rewrite IHn.
  generalize (List.map f (List.seq 0 n)) (f n); clear; intros l x.
  induction l; simpl; [ring | rewrite <- IHl; ring].
Qed.

Lemma sum_permuted n f (s : nat -> nat) : (forall k, (k < n)%nat -> (s k < n)%nat) ->
  (forall k l, (k < n)%nat -> (l < n)%nat -> s k = s l -> k = l) ->
  sum n (fun k => f (s k)) = sum n f.
Proof.
  intros Hs Hi; rewrite !sum_list.
  assert (P : Permutation (List.map s (List.seq 0 n)) (List.seq 0 n)).
  { apply NoDup_Permutation_bis.
    - assert (D := List.seq_NoDup n 0).
      assert (G : forall l, (forall k, List.In k l -> (k < n)%nat) -> List.NoDup l -> List.NoDup (List.map s l)).
      { induction l; intros Hl Nl; simpl; [constructor|]; inversion Nl; subst; constructor.
        - intros Hin; apply List.in_map_iff in Hin; destruct Hin as [y [Ey Hy]].
          apply Hi in Ey; [subst; contradiction | apply Hl; now right | apply Hl; now left].
        - apply IHl; [intros; apply Hl; now right | assumption]. }
      apply G; [intros k Hk; apply List.in_seq in Hk; lia | assumption].
    - now rewrite List.map_length.
    - intros k Hk; apply List.in_map_iff in Hk; destruct Hk as [y [<- Hy]].
      apply List.in_seq in Hy; apply List.in_seq; split; [lia|]; apply Hs; lia. }
  rewrite <- (List.map_map s f).
  apply (Permutation_map f) in P; revert P.
  generalize (List.map f (List.map s (List.seq 0 n))) (List.map f (List.seq 0 n)).
  intros l l' P; induction P; simpl; lra.
Qed.

(* Sections 1 and 2: without a positional term, and without a causal mask, permuting the tokens
   permutes the outputs and changes nothing else: out_i = sum_j softmax_j(a(x_i, x_j)) v(x_j), with
   any score a and any value v of tokens of any kind. *)
Theorem position_agnostic (token : Type) (a : token -> token -> R) (v : token -> R)
  n (x : nat -> token) (s : nat -> nat) i :
  (forall k, (k < n)%nat -> (s k < n)%nat) ->
  (forall k l, (k < n)%nat -> (l < n)%nat -> s k = s l -> k = l) ->
  let out (x : nat -> token) i := sum n (fun j => softmax n (fun z => a (x i) (x z)) j * v (x j)) in
  out (fun k => x (s k)) i = out x (s i).
Proof.
  intros Hs Hi out; unfold out.
  rewrite <- (sum_permuted n (fun j => softmax n (fun z => a (x (s i)) (x z)) j * v (x j)) s Hs Hi).
  apply sum_ext; intros j Hj; f_equal; unfold softmax; f_equal.
  now rewrite (sum_permuted n (fun z => exp (a (x (s i)) (x z))) s Hs Hi).
Qed.

(* Section 5.3: DAPE's feedforward layers 2 H -> 32 -> H at each of T^2 places cost more
   multiplications than CABLE's two maps C -> H for T tokens and the weight at T^2 places, where
   T >= C/32. *)
Theorem dape_cost H C T : 0 < H -> 0 < C -> C / 32 <= T ->
  2 * (T * C * H) + H * T ^ 2 < (2 * H * 32 + 32 * H) * T ^ 2.
Proof.
  intros HH HC HT.
  assert (P : 0 < T) by lra; assert (Q : 0 < H * T) by nra.
  replace ((2 * H * 32 + 32 * H) * T ^ 2 ) with (H * T * (96 * T)) by ring.
  replace (2 * (T * C * H) + H * T ^ 2) with (H * T * (2 * C + T)) by ring.
  apply Rmult_lt_compat_l; lra.
Qed.

(* Section 2, "CoPE applies a binary gate", is refuted: its gate, the logistic function of a score,
   is strictly between 0 and 1 at every score. *)
Theorem cope_binary_gate_fails z : 0 < logistic z < 1 /\ logistic z * (1 - logistic z) <> 0.
Proof.
  assert (P := exp_pos (- z)).
  assert (Q : 0 < logistic z < 1).
  { unfold logistic; split; [apply Rinv_0_lt_compat; lra|].
    rewrite <- Rinv_1; apply Rinv_lt_contravar; lra. }
  split; [exact Q | nra].
Qed.
