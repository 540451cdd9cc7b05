(* SPDX-License-Identifier: Apache-2.0 *)
(* The causal mask as a prior: BAM, section 2.2 and appendix A. *)
From Plumbline Require Import base posterior.

(* A score that may be minus infinity (None), and its exponential. *)
Definition score := option R.
Definition weight (s : score) : R := match s with Some x => exp x | None => 0 end.
Definition plus (x : R) (s : score) : score :=
  match s with Some y => Some (x + y) | None => None end.
Definition masked_softmax (n : nat) (s : nat -> score) (j : nat) : R :=
  weight (s j) / sum n (fun z => weight (s z)).

(* M_ij = 0 for j <= i, minus infinity for j > i; positions count from 1, arrays from 0. *)
Definition causal_mask (i j : nat) : score := if j <=? i then Some 0 else None.

(* Uniform(1, i, j) of the i-th position, counted from 1. *)
Definition uniform (i j : nat) : R := if ((1 <=? j) && (j <=? i))%bool then / INR i else 0.

Lemma weight_plus x s : weight (plus x s) = exp x * weight s.
Proof. destruct s; simpl; [apply exp_plus | ring]. Qed.

Lemma sum_causal L i f : (i <= L)%nat ->
  sum L (fun j => if j <? i then f j else 0) = sum i f.
Proof.
  intros H; rewrite (sum_cut i L) by assumption; unfold sum_from.
  rewrite (sum_ext (L - i) _ (fun _ => 0)), sum_const, Rmult_0_r, Rplus_0_r.
  - apply sum_ext; intros k Hk; apply Nat.ltb_lt in Hk; now rewrite Hk.
  - intros k _; destruct (Nat.ltb_spec (i + k) i); [lia | reflexivity].
Qed.

(* BAM, Lemma 1: the causal mask is the prior Uniform(1, i, j), and softmax(q_i K^T + M_i) is the
   content's softmax over all L keys times this prior, over Z. Positions are 1, ..., L; the key of
   array index j stands at j + 1. *)
Theorem lemma_1 L i f : (1 <= i <= L)%nat ->
  let M j := causal_mask (i - 1) j in
  (forall j, (j < L)%nat -> masked_softmax L M j = uniform i (j + 1)) /\
  forall j, (j < L)%nat ->
    masked_softmax L (fun z => plus (f z) (M z)) j =
    softmax L f j * uniform i (j + 1) / sum L (fun z => softmax L f z * uniform i (z + 1)).
Proof.
  intros [Hi HL] M.
  assert (Pi : 0 < INR i) by (apply (lt_INR 0); lia).
  assert (W : forall z, weight (M z) = if z <? i then 1 else 0).
  { intros z; unfold M, causal_mask.
    destruct (Nat.leb_spec z (i - 1)), (Nat.ltb_spec z i); try lia; simpl; [apply exp_0 | reflexivity]. }
  assert (U : forall z, uniform i (z + 1) = if z <? i then / INR i else 0).
  { intros z; unfold uniform.
    destruct (Nat.leb_spec 1 (z + 1)); [|lia].
    destruct (Nat.leb_spec (z + 1) i), (Nat.ltb_spec z i); try lia; reflexivity. }
  assert (SW : sum L (fun z => weight (M z)) = INR i).
  { rewrite (sum_ext L _ (fun z => if z <? i then 1 else 0)) by (intros; apply W).
    rewrite (sum_causal L i (fun _ => 1)), sum_const by assumption; ring. }
  split.
  - intros j Hj; unfold masked_softmax; rewrite SW, W, U.
    destruct (j <? i); field; lra.
  - intros j Hj; unfold masked_softmax.
    rewrite weight_plus, W, U.
    rewrite (sum_ext L (fun z => weight (plus (f z) (M z)))
                       (fun z => if z <? i then exp (f z) else 0))
      by (intros; rewrite weight_plus, W; destruct (k <? i); ring).
    rewrite (sum_ext L (fun z => softmax L f z * uniform i (z + 1))
                       (fun z => if z <? i then exp (f z) / sum L (fun z => exp (f z)) / INR i else 0))
      by (intros; rewrite U; unfold softmax; destruct (k <? i); unfold Rdiv; ring).
    rewrite (sum_causal L i (fun z => exp (f z))), sum_causal, !sum_div by assumption.
    unfold softmax.
    assert (a := sum_exp_pos L f ltac:(lia)); assert (b := sum_exp_pos i f ltac:(lia)).
    destruct (j <? i); field; repeat split; lra.
Qed.

(* Appendix A, "before the current token", is refuted: 1/(i - 1) for j < i is not what the mask
   gives, as it leaves the own key 1/i. *)
Theorem uniform_prior_positions_fails L i : (1 <= i <= L)%nat ->
  masked_softmax L (causal_mask (i - 1)) (i - 1) = / INR i.
Proof.
  intros H; rewrite (proj1 (lemma_1 L i (fun _ => 0) H)) by lia.
  unfold uniform; destruct (Nat.leb_spec 1 (i - 1 + 1)), (Nat.leb_spec (i - 1 + 1) i); try lia.
  reflexivity.
Qed.

(* BAM, appendix A: the bias is a function of |j - i| if mu = 0, or if only keys up to the query are
   visible. *)
Theorem relative_distance alpha beta mu : 0 < alpha ->
  (mu = 0 -> forall i j j', distance i j = distance i j' ->
     ggd alpha beta mu i j = ggd alpha beta mu i j') /\
  (forall i j i' j', (j <= i)%nat -> (j' <= i')%nat -> distance i j = distance i' j' ->
     ggd alpha beta mu i j = ggd alpha beta mu i' j').
Proof.
  intros Ha; split.
  - intros -> i j j' H; unfold ggd, distance in *; f_equal; rewrite !Rminus_0_r.
    assert (C : INR j' - INR i = INR j - INR i \/ INR j' - INR i = - (INR j - INR i))
      by (unfold Rabs in H; destruct (Rcase_abs _), (Rcase_abs _); lra).
    destruct C as [-> | ->]; [reflexivity|].
    unfold Rdiv; now rewrite <- Ropp_mult_distr_l, apow_opp.
  - intros i j i' j' H H' E; rewrite !distance_causal in E by assumption.
    unfold ggd; f_equal; f_equal; f_equal; lra.
Qed.
