(* SPDX-License-Identifier: Apache-2.0 *)
(* Attention as a posterior: BAM, section 2.1. *)
From Plumbline Require Import base.

(* The fraction of Definition 1: sum_j exp(s_j) v_j / sum_z exp(s_z). *)
Definition attention (n : nat) (s v : nat -> R) : R :=
  sum n (fun j => exp (s j) * v j) / sum n (fun z => exp (s z)).

(* BAM, Definition 1: self-attention(q_i, K, V) = sum_j p_ij v_j = E_{j|i}[V], p_i a distribution
   over the keys that the query sees; so it lies between the least and the largest value. *)
Theorem definition_1 n s v : (0 < n)%nat ->
  attention n s v = sum n (fun j => softmax n s j * v j) /\
  (forall j, (j < n)%nat -> 0 < softmax n s j) /\ sum n (softmax n s) = 1 /\
  forall least most, (forall j, (j < n)%nat -> least <= v j <= most) ->
    least <= attention n s v <= most.
Proof.
  intros Hn.
  assert (E : attention n s v = sum n (fun j => softmax n s j * v j)).
  { unfold attention, softmax; rewrite <- sum_div; apply sum_ext; intros.
    assert (h := sum_exp_pos n s Hn); field; lra. }
  split; [exact E|]; split; [intros; now apply softmax_pos|]; split; [now apply softmax_sum|].
  intros least most H; rewrite E.
  rewrite <- (Rmult_1_r least), <- (Rmult_1_r most), <- (softmax_sum n s Hn), <- !sum_scal.
  split; apply sum_le; intros k Hk; destruct (H k Hk);
    assert (h := softmax_pos n s k Hn); nra.
Qed.

(* BAM, section 2.1 against appendix A: softmax(q k / sqrt(d)) = softmax(q k) for all products, if
   and only if the head has width d = 1. *)
Theorem score_scale d : (1 <= d)%nat ->
  (forall n x j, (j < n)%nat -> softmax n (fun z => x z / sqrt (INR d)) j = softmax n x j) <->
  d = 1%nat.
Proof.
  intros Hd; split.
  - intros H; specialize (H 2%nat (fun z => INR z) 0%nat ltac:(lia)).
    rewrite !softmax_inv in H; simpl in H; apply (f_equal Rinv) in H; rewrite !Rinv_inv in H.
    rewrite (Rminus_diag_eq (0 / _)), (Rminus_diag_eq 0 0) in H by reflexivity.
    assert (E : exp (1 / sqrt (INR d) - 0 / sqrt (INR d)) = exp (1 - 0)) by lra.
    apply exp_inv in E.
    assert (P : 0 < sqrt (INR d)) by (apply sqrt_lt_R0, (lt_INR 0); lia).
    assert (Q : sqrt (INR d) = 1).
    { apply Rmult_eq_reg_r with (1 / sqrt (INR d)); [|apply Rgt_not_eq, Rdiv_lt_0_compat; lra].
      replace (1 / sqrt (INR d)) with 1 at 2 by lra; field_simplify; lra. }
    assert (W : INR d = 1).
    { rewrite <- (sqrt_sqrt (INR d)) by apply pos_INR; rewrite Q; ring. }
    now apply INR_eq.
  - intros -> n x j Hj; apply softmax_ext; [|assumption].
    intros; simpl; rewrite sqrt_1; field.
Qed.

(* p_cont p_pos / Z. *)
Definition factorised (n : nat) (f g : nat -> R) (j : nat) : R :=
  softmax n f j * softmax n g j / sum n (fun z => softmax n f z * softmax n g z).

(* Z_cont, Z_pos, Z_joint of appendix K.1. *)
Definition partition (n : nat) (s : nat -> R) : R := sum n (fun z => exp (s z)).

Lemma overlap_is_quotient n f g : (0 < n)%nat ->
  sum n (fun z => softmax n f z * softmax n g z) =
  partition n (fun z => f z + g z) / (partition n f * partition n g).
Proof.
  intros Hn; unfold softmax, partition.
  assert (hf := sum_exp_pos n f Hn); assert (hg := sum_exp_pos n g Hn).
  rewrite <- sum_div; apply sum_ext; intros; rewrite exp_plus; field; lra.
Qed.

Lemma overlap_pos n f g : (0 < n)%nat -> 0 < sum n (fun z => softmax n f z * softmax n g z).
Proof.
  intros; apply sum_pos; [assumption|]; intros; apply Rmult_lt_0_compat; now apply softmax_pos.
Qed.

(* BAM, Theorem 1: if the score is f_j + g_j, then p_ij = p(f_j) p(g_j) / Z with p(f) = softmax(f),
   p(g) = softmax(g), Z = sum_z p(f_z) p(g_z). *)
Theorem theorem_1 n f g j : (j < n)%nat ->
  softmax n (fun z => f z + g z) j =
  softmax n f j * softmax n g j / sum n (fun z => softmax n f z * softmax n g z).
Proof.
  intros Hj; assert (Hn : (0 < n)%nat) by lia.
  rewrite overlap_is_quotient by assumption; unfold softmax, partition; rewrite exp_plus.
  assert (hf := sum_exp_pos n f Hn); assert (hg := sum_exp_pos n g Hn).
  assert (hj := sum_exp_pos n (fun z => f z + g z) Hn); field; lra.
Qed.

(* BAM, section 4: T5's learned b(i - j), added to the logits, is a prior over the visible keys. *)
Theorem t5_prior (b : nat -> R) i f :
  let u := softmax (S i) (fun j => b (i - j)%nat) in
  (forall j, (j <= i)%nat -> 0 < u j) /\ sum (S i) u = 1 /\
  forall j, (j <= i)%nat ->
    softmax (S i) (fun z => f z + b (i - z)%nat) j =
    softmax (S i) f j * u j / sum (S i) (fun z => softmax (S i) f z * u z).
Proof.
  intros u; split; [|split].
  - intros; apply softmax_pos; lia.
  - apply softmax_sum; lia.
  - intros; apply (theorem_1 (S i) f (fun j => b (i - j)%nat)); lia.
Qed.

(* BAM, Definition 2, is refuted: a joint probability is at most its marginal p(g_pos), and the
   attention weight of f = (1, 0), g = (0, 1) is not. *)
Theorem definition_2_fails :
  exists n f g j, (j < n)%nat /\ softmax n g j < softmax n (fun z => f z + g z) j.
Proof.
  exists 2%nat, (fun z => 1 - INR z), INR, 0%nat; split; [lia|].
  rewrite !softmax_inv; simpl.
  replace (0 - 0) with 0 by ring; replace (1 - 0 + 0 - (1 - 0 + 0)) with 0 by ring.
  replace (1 - 1 + 1 - (1 - 0 + 0)) with 0 by ring; rewrite exp_0.
  assert (exp 0 < exp (1 - 0)) by (apply exp_increasing; lra); rewrite exp_0 in *.
  apply Rinv_lt_contravar; nra.
Qed.

(* What is true instead: p_ij = w_j p_pos(j) with w_j = e^(f_j) / sum_z p_pos(z) e^(f_z), whose mean
   under the prior is 1. *)
Theorem definition_2_corrected n f g : (0 < n)%nat ->
  let w j := exp (f j) / sum n (fun z => softmax n g z * exp (f z)) in
  sum n (fun j => softmax n g j * w j) = 1 /\
  forall j, (j < n)%nat -> softmax n (fun z => f z + g z) j = w j * softmax n g j.
Proof.
  intros Hn w.
  assert (hg := sum_exp_pos n g Hn).
  assert (E : sum n (fun z => softmax n g z * exp (f z)) =
              partition n (fun z => f z + g z) / partition n g).
  { unfold softmax, partition; rewrite <- sum_div; apply sum_ext; intros.
    rewrite exp_plus; field; lra. }
  assert (P : 0 < sum n (fun z => softmax n g z * exp (f z))).
  { apply sum_pos; [assumption|]; intros; apply Rmult_lt_0_compat;
      [now apply softmax_pos | apply exp_pos]. }
  split.
  - unfold w; rewrite (sum_ext n _ (fun j => softmax n g j * exp (f j) /
      sum n (fun z => softmax n g z * exp (f z)))); [|intros; field; lra].
    rewrite sum_div; field; lra.
  - intros j Hj; unfold w; rewrite E; unfold softmax, partition in *; rewrite exp_plus.
    assert (hj := sum_exp_pos n (fun z => f z + g z) Hn); field; lra.
Qed.
