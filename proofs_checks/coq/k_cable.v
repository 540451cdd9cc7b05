(* SPDX-License-Identifier: Apache-2.0 *)
(* K-CABLE's kernel, -ln(1 + b^2): CABLE, section 5.6. *)
From Plumbline Require Import base cable.

Lemma derivative_of_kernel b : derivable_pt_lim (fun x => ln (1 + x * x)) b (2 * b / (1 + b * b)).
Proof.
  assert (P : 0 < 1 + b * b) by nra.
  assert (I : derivable_pt_lim (fun x => 1 + x * x) b (2 * b)).
  { replace (2 * b) with (0 + (1 * b + b * 1)) by ring.
    apply (derivable_pt_lim_plus (fun _ => 1) (fun x => x * x)); [apply derivable_pt_lim_const|].
    apply (derivable_pt_lim_mult id id); apply derivable_pt_lim_id. }
  replace (2 * b / (1 + b * b)) with (/ (1 + b * b) * (2 * b)) by (field; lra).
  apply (derivable_pt_lim_comp (fun x => 1 + x * x) ln); [exact I | now apply derivable_pt_lim_ln].
Qed.

(* b - ln(1 + b^2) does not decrease: its derivative is (1 - b)^2/(1 + b^2). *)
Lemma excess_grows x y : x <= y -> x - ln (1 + x * x) <= y - ln (1 + y * y).
Proof.
  intros [H| ->]; [|lra].
  destruct (MVT_cor2 (fun b => b - ln (1 + b * b)) (fun b => 1 - 2 * b / (1 + b * b)) x y H) as [c [E _]].
  - intros c _; apply (derivable_pt_lim_minus id (fun b => ln (1 + b * b)));
      [apply derivable_pt_lim_id | apply derivative_of_kernel].
  - simpl in E.
    assert (P : 0 < 1 + c * c) by nra.
    assert (Q : 0 <= 1 - 2 * c / (1 + c * c)).
    { replace (1 - 2 * c / (1 + c * c)) with ((1 - c) * (1 - c) / (1 + c * c)) by (field; lra).
      apply Rmult_le_pos; [apply Rle_0_sqr | left; apply Rinv_0_lt_compat; lra]. }
    nra.
Qed.

Lemma ln_at_most x : 0 < x -> ln x <= x - 1.
Proof.
  intros H; rewrite <- (ln_exp (x - 1)); apply ln_le; [assumption|].
  destruct (Req_EM_T (x - 1) 0) as [E|ne]; [rewrite E, exp_0; lra|].
  assert (h := exp_ineq1 (x - 1) ne); lra.
Qed.

(* Section 5.6, "a slower slope": for the penalty b >= 0 of CABLE, |d/db ln(1 + b^2)| <= 1,
   ln(1 + b^2) <= b, and ln(1 + b^2)/b falls to 0. *)
Theorem k_cable_slope :
  (forall b, 0 <= b -> exists slope, derivable_pt_lim (fun x => ln (1 + x * x)) b slope /\ Rabs slope <= 1) /\
  (forall b, 0 <= b -> ln (1 + b * b) <= b) /\
  (forall eps, 0 < eps -> exists B, forall b, B <= b -> 0 < b -> ln (1 + b * b) / b <= eps).
Proof.
  split; [|split].
  - intros b Hb; exists (2 * b / (1 + b * b)); split; [apply derivative_of_kernel|].
    rewrite Rabs_right.
    + assert (P : 0 < 1 + b * b) by nra; apply Rmult_le_reg_r with (1 + b * b); [nra|].
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra.
      assert (s : 0 <= (1 - b) * (1 - b)) by apply Rle_0_sqr; lra.
    + apply Rle_ge, Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; nra].
  - intros b Hb; assert (h := excess_grows 0 b Hb).
    rewrite Rmult_0_l, Rplus_0_r, ln_1 in h; lra.
  - intros eps He; exists (16 / (eps * eps)); intros b HB Hb.
    set (s := sqrt b); assert (Hs : 0 < s) by now apply sqrt_lt_R0.
    assert (E : s * s = b) by (apply sqrt_sqrt; lra); clearbody s.
    assert (L : ln (1 + b * b) <= 4 * s).
    { apply Rle_trans with (ln ((1 + s) * (1 + s) * ((1 + s) * (1 + s)))).
      - apply ln_le; [nra|]; rewrite <- E.
        assert (0 <= s * s) by nra; assert (0 <= s * s * s) by nra; nra.
      - rewrite !ln_mult by nra; assert (h := ln_at_most (1 + s) ltac:(lra)); lra. }
    assert (Hs4 : 4 <= eps * s).
    { apply (Rmult_le_compat_r (eps * eps)) in HB; [|nra].
      assert (P : 0 < eps * eps) by nra; unfold Rdiv in HB; rewrite Rmult_assoc, Rinv_l in HB by lra.
      rewrite <- E in HB; assert (0 < eps * s) by nra.
      destruct (Rle_lt_dec 4 (eps * s)); [assumption|]; nra. }
    apply Rmult_le_reg_r with b; [assumption|].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (4 * s <= eps * s * s) by (apply Rmult_le_compat_r; lra).
    replace (eps * b) with (eps * s * s) by (rewrite <- E; ring); lra.
Qed.

(* The kernel of the relative bias b. *)
Definition kernel (b : R) : R := - ln (b * b + 1).

Lemma kernel_falls b c : 0 <= b <= c -> kernel c <= kernel b.
Proof. intros H; unfold kernel; apply Ropp_le_contravar, ln_le; nra. Qed.

(* Section 5.6 with eqs 5 and 7: the kernel of the printed bias gives penalties that do not decrease
   with distance. *)
Theorem k_cable_penalises f g i j : (forall k, 0 <= f k) -> 0 <= g i -> (S j <= i)%nat ->
  kernel (printed f g i j) <= 0 /\ kernel (printed f g i j) <= kernel (printed f g i (S j)).
Proof.
  intros Hf Hg H; destruct (penalises_distance_fails f g i j Hf Hg H) as [P Q].
  assert (P' : 0 <= printed f g i (S j)).
  { unfold printed; apply Rmult_le_pos; [assumption|].
    assert (h := prefix_grows f i (S j) Hf H); lra. }
  split; [|apply kernel_falls; lra].
  unfold kernel; assert (0 <= ln (printed f g i j * printed f g i j + 1)); [|lra].
  rewrite <- ln_1; apply ln_le; nra.
Qed.

(* Section 5.6 against eqs 5 and 7: -ln(1 + (g d)^2) = -g ln(1 + d^2) for all differences d, with a
   weight g > 0, if and only if the weight is 1. *)
Theorem k_cable_weight_place g : 0 < g ->
  (forall d, kernel (g * d) = g * kernel d) <-> g = 1.
Proof.
  intros Hg; split; [|intros ->; intros; rewrite !Rmult_1_l; reflexivity].
  intros H.
  assert (low : forall x, 0 < x -> x / (1 + x) <= ln (1 + x)).
  { intros x Hx; assert (h := ln_at_most (/ (1 + x)) ltac:(apply Rinv_0_lt_compat; lra)).
    rewrite ln_Rinv in h by lra; replace (x / (1 + x)) with (1 - / (1 + x)) by (field; lra); lra. }
  assert (high : forall x, 0 < x -> ln (1 + x) <= x)
    by (intros x Hx; assert (h := ln_at_most (1 + x) ltac:(lra)); lra).
  assert (E : forall y, 0 < y -> ln (1 + g * g * y) = g * ln (1 + y)).
  { intros y Hy; assert (h := H (sqrt y)); unfold kernel in h.
    assert (s : sqrt y * sqrt y = y) by (apply sqrt_sqrt; lra).
    replace (g * sqrt y * (g * sqrt y) + 1) with (1 + g * g * y) in h by (rewrite <- s at 1; ring).
    rewrite s, (Rplus_comm y 1) in h; lra. }
  destruct (Rtotal_order g 1) as [L|[e|G]]; [|exact e|]; exfalso.
  - set (y := (1 - g) / (2 * g)).
    assert (Hy : 0 < y) by (apply Rdiv_lt_0_compat; lra).
    assert (a := low y Hy); assert (b := high (g * g * y) ltac:(apply Rmult_lt_0_compat; nra)).
    rewrite E in b by assumption.
    assert (c : g * (y / (1 + y)) <= g * g * y) by nra.
    apply (Rmult_le_compat_r ((1 + y) / (g * y))) in c; [|left; apply Rdiv_lt_0_compat; nra].
    replace (g * (y / (1 + y)) * ((1 + y) / (g * y))) with 1 in c by (field; repeat split; lra).
    replace (g * g * y * ((1 + y) / (g * y))) with (g * (1 + y)) in c by (field; lra).
    replace (g * (1 + y)) with ((1 + g) / 2) in c by (unfold y; field; lra); lra.
  - set (y := (g - 1) / (2 * (g * g))).
    assert (Hy : 0 < y) by (apply Rdiv_lt_0_compat; nra).
    assert (Hz : 0 < g * g * y) by (apply Rmult_lt_0_compat; nra).
    assert (a := low (g * g * y) Hz); assert (b := high y Hy); rewrite E in a by assumption.
    assert (c : g * g * y / (1 + g * g * y) <= g * y) by nra.
    apply (Rmult_le_compat_r ((1 + g * g * y) / (g * y))) in c; [|left; apply Rdiv_lt_0_compat; nra].
    replace (g * g * y / (1 + g * g * y) * ((1 + g * g * y) / (g * y))) with g in c by (field; repeat split; apply Rgt_not_eq; nra).
    replace (g * y * ((1 + g * g * y) / (g * y))) with (1 + g * g * y) in c by (field; split; lra).
    replace (g * g * y) with ((g - 1) / 2) in c by (unfold y; field; lra); lra.
Qed.

(* The difference S_i - S_(i-d) at the distance d. *)
Definition difference (f : nat -> R) (i d : nat) : R := prefix f i - prefix f (i - d).

(* Section 5.6, "less like a sliding window": for the same scores c, increments and weights, the
   attention of query i to all keys at a distance of w or more is at least that of CABLE, for every
   w; the weight outside of the kernel, as in the published code, or inside. *)
Theorem k_cable_less_window f g c i w : (forall k, 0 <= f k) -> 0 < g -> (w <= S i)%nat ->
  sum_from w (S i) (softmax (S i) (fun d => c d + - (g * difference f i d))) <=
  sum_from w (S i) (softmax (S i) (fun d => c d + g * kernel (difference f i d))) /\
  sum_from w (S i) (softmax (S i) (fun d => c d + - (g * difference f i d))) <=
  sum_from w (S i) (softmax (S i) (fun d => c d + kernel (g * difference f i d))).
Proof.
  intros Hf Hg Hw.
  assert (M : forall d e, (d <= e)%nat -> difference f i d <= difference f i e).
  { intros d e H; unfold difference.
    assert (h := prefix_grows f (i - d) (i - e) Hf ltac:(lia)); lra. }
  assert (P : forall b, kernel b = - ln (1 + b * b)) by (intros; unfold kernel; now rewrite Rplus_comm).
  split; apply mass_moves_outwards; try lia; intros d e H He; specialize (M d e H); rewrite !P.
  - assert (h := excess_grows _ _ M); nra.
  - assert (h := excess_grows (g * difference f i d) (g * difference f i e) ltac:(nra)); lra.
Qed.
