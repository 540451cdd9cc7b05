(* SPDX-License-Identifier: Apache-2.0 *)
(* Scalable softmax and the cost of attention: BAM, section 2.5, appendices H.4 and J. *)
From Plumbline Require Import base.

(* Section 2.5 and appendix H.4: the two forms of scalable softmax agree, with the natural
   logarithm. *)
Theorem ssmax_formula n s z i : (i < n)%nat ->
  Rpower (INR n) (s * z i) / sum n (fun j => Rpower (INR n) (s * z j)) =
  softmax n (fun j => s * ln (INR n) * z j) i.
Proof.
  intros Hi; unfold softmax, Rpower.
  replace (s * z i * ln (INR n)) with (s * ln (INR n) * z i) by ring; f_equal.
  apply sum_ext; intros; f_equal; ring.
Qed.

(* "Preserves the sharpness regardless of input size", read as: a key k that exceeds n - 1 equal ones
   by the margin g keeps at least half of the mass at every n, where s g >= 1. *)
Theorem ssmax_sharpness s g c n k : 1 <= s * g -> (k < n)%nat ->
  1 / 2 <= softmax n (fun j => s * ln (INR n) * (if (j =? k)%nat then c + g else c)) k.
Proof.
  intros H Hk; rewrite softmax_inv; unfold Rdiv; rewrite Rmult_1_l.
  assert (Hn : 1 <= INR n) by (apply (le_INR 1); lia).
  assert (L : 0 <= ln (INR n)) by (rewrite <- ln_1; apply ln_le; lra).
  apply Rinv_le_contravar; [apply sum_pos; [lia | intros; apply exp_pos]|].
  apply Rle_trans with (sum n (fun z => / INR n + (if (z =? k)%nat then 1 else 0))).
  - apply sum_le; intros z Hz; rewrite Nat.eqb_refl.
    assert (I : 0 < / INR n) by (apply Rinv_0_lt_compat; lra).
    destruct (z =? k)%nat; [rewrite Rminus_diag_eq, exp_0 by reflexivity; lra|].
    replace (/ INR n) with (exp (- ln (INR n))) by (rewrite exp_Ropp, exp_ln by lra; reflexivity).
    rewrite Rplus_0_r; apply exp_le; nra.
  - rewrite sum_plus, sum_const, sum_indicator, Rinv_r; lra || assumption.
Qed.

(* Section 2.5, last sentence: scaling by s ln n is refuted to be a division of the weights of a row
   by one number Z, wherever two scores differ and s ln n is not 1. *)
Theorem ssmax_is_z_fails s n x a b Z : (a < n)%nat -> (b < n)%nat -> x a <> x b ->
  s * ln (INR n) <> 1 -> Z <> 0 ->
  ~ forall j, (j < n)%nat -> softmax n (fun z => s * ln (INR n) * x z) j = softmax n x j / Z.
Proof.
  intros Ha Hb ne H HZ E; apply ne; set (c := s * ln (INR n)) in *.
  assert (pa := softmax_pos n x b ltac:(lia)).
  assert (Q : softmax n (fun z => c * x z) a / softmax n (fun z => c * x z) b =
              softmax n x a / softmax n x b) by (rewrite !E by assumption; field; lra).
  rewrite !softmax_ratio in Q by lia; apply exp_inv in Q.
  assert ((c - 1) * (x a - x b) = 0) by lra.
  apply Rmult_integral in H0; lra.
Qed.

(* The visible pairs of query and key over n tokens under the causal mask. *)
Definition pairs (n : nat) : R := sum n (fun i => INR (S i)).

(* Appendix J, "attention scales quadratically": twice the length has four times the pairs, up to a
   relative error of order 1/n: their quotient is 4 - 2/(n + 1). *)
Theorem quadratic_cost n : (1 <= n)%nat -> pairs (2 * n) / pairs n = 4 - 2 / (INR n + 1).
Proof.
  assert (P : forall k, pairs k = INR k * (INR k + 1) / 2).
  { induction k; [unfold pairs; simpl; field|].
    change (pairs (S k)) with (pairs k + INR (S k)); rewrite IHk, !S_INR; field. }
  intros Hn; apply (le_INR 1) in Hn; simpl in Hn; rewrite !P, mult_INR; simpl (INR 2); field; lra.
Qed.
