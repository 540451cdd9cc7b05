(* SPDX-License-Identifier: Apache-2.0 *)
(* CABLE's reduction to ALiBi: section 3, after eq. 7. *)
From Plumbline Require Import base cable.

(* The values f_k = -1 and g_i = 1/2^h, put in by hand, give B_ij = -(i - j)/2^h in eqs 3-5 and 7,
   which is ALiBi's bias for j <= i. *)
Theorem alibi_reduction_values h i j : (j <= i)%nat ->
  printed (fun _ => -1) (fun _ => / 2 ^ h) i j = - (INR i - INR j) / 2 ^ h /\
  printed (fun _ => -1) (fun _ => / 2 ^ h) i j = alibi (/ 2 ^ h) i j.
Proof.
  intros H; unfold alibi; rewrite distance_causal by assumption; unfold printed, prefix.
  rewrite !sum_const, !S_INR; split; unfold Rdiv; ring.
Qed.

(* Eqs 2-7 as printed do not reduce to ALiBi: a ReLU is never -1, and its biases are never below 0. *)
Theorem alibi_reduction_as_printed_fails (z y : nat -> R) m i j : 0 < m -> (j < i)%nat ->
  (forall k, relu (z k) <> -1) /\
  printed (fun k => relu (z k)) (fun k => softplus (y k)) i j <> alibi m i j.
Proof.
  intros Hm H; split; [intros k E; pose proof (relu_nonneg (z k)); lra|].
  destruct (penalises_distance_fails (fun k => relu (z k)) (fun k => softplus (y k)) i j) as [P _].
  - intros; apply relu_nonneg.
  - left; apply softplus_pos.
  - assumption.
  - intros E; rewrite E in P; unfold alibi in P.
    assert (d := distance_ge_1 i j ltac:(lia)); nra.
Qed.

(* With the sign of the published code, and a bias term in the two linear maps, some parameters give
   every token of every input X the increment 1 and the weight m, and with them ALiBi's bias. *)
Theorem alibi_reduction_code_sign D m : 0 < m -> exists w_c b_c w_s b_s,
  forall X : nat -> nat -> R,
    let f k := relu (dot D (X k) w_c + b_c) in
    let g k := softplus (dot D (X k) w_s + b_s) in
    (forall k, f k = 1) /\ (forall k, g k = m) /\ forall i j, published f g i j = alibi m i j.
Proof.
  intros Hm; exists (fun _ => 0), 1, (fun _ => 0), (ln (exp m - 1)); intros X f g.
  assert (Z : forall k, dot D (X k) (fun _ => 0) = 0).
  { intros k; unfold dot; rewrite (sum_ext D _ (fun _ => 0)), sum_const by (intros; ring); ring. }
  assert (Hf : forall k, f k = 1).
  { intros k; unfold f, relu; rewrite Z, Rplus_0_l; apply Rmax_right; lra. }
  assert (Hg : forall k, g k = m).
  { intros k; unfold g; rewrite Z, Rplus_0_l; now apply softplus_inverse. }
  repeat split; try assumption; intros i j.
  assert (P : forall k, prefix f k = INR k + 1).
  { intros k; unfold prefix; rewrite (sum_ext _ _ (fun _ => 1)), sum_const, S_INR by (intros; apply Hf); ring. }
  unfold published, alibi, distance; rewrite !P, Hg.
  rewrite <- Rabs_Ropp; f_equal; f_equal; ring.
Qed.

(* Without bias terms it fails: the tokens 1 and -1 cannot both have the increment 1. *)
Theorem alibi_reduction_code_sign_fails_without w : ~ (relu (w * 1) = 1 /\ relu (w * -1) = 1).
Proof. unfold relu, Rmax; destruct (Rle_dec 0 (w * 1)), (Rle_dec 0 (w * -1)); lra. Qed.

Lemma Rpower_2_nat k : Rpower 2 (- INR k) = / 2 ^ k.
Proof. rewrite Rpower_Ropp, Rpower_pow by lra; reflexivity. Qed.

(* ALiBi's slope 2^(-8 h / H) of head h = 1..H is 1/2^h, for H a power of two, where and only where
   H = 8. *)
Theorem slope_half_power_h a : let H := (2 ^ a)%nat in
  (forall h, (1 <= h <= H)%nat -> Rpower 2 (-8 * INR h / INR H) = / 2 ^ h) <-> H = 8%nat.
Proof.
  intros H; assert (HH : (1 <= H)%nat) by (unfold H; pose proof (Nat.pow_nonzero 2 a); lia).
  assert (P : 0 < INR H) by (apply (lt_INR 0); lia).
  split.
  - intros E; specialize (E 1%nat ltac:(lia)); rewrite <- Rpower_2_nat in E.
    unfold Rpower in E; apply exp_inv in E.
    assert (l2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
    apply Rmult_eq_reg_r in E; [|lra]; simpl in E.
    apply INR_eq; apply (Rmult_eq_compat_r (INR H)) in E.
    unfold Rdiv in E; rewrite Rmult_assoc, Rinv_l in E by lra; simpl (INR 8); lra.
  - intros E h _; rewrite E, <- Rpower_2_nat; f_equal; simpl (INR 8); field.
Qed.
