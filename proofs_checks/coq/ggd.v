(* SPDX-License-Identifier: Apache-2.0 *)
(* The generalised Gaussian family and its parameters: BAM, section 2.3, appendices A, C and H.1. *)
From Plumbline Require Import base.

(* Section 2.3: mu = 0, beta = 1 and alpha = 1/m give ALiBi. *)
Theorem ggd_laplace m i j : 0 < m -> ggd (/ m) 1 0 i j = alibi m i j.
Proof.
  intros Hm; unfold ggd, alibi, distance; rewrite apow_1, Rminus_0_r.
  unfold Rdiv; rewrite Rinv_inv, Rabs_mult, (Rabs_right m); lra.
Qed.

Lemma apow_2 x : apow x 2 = x ^ 2.
Proof.
  destruct (Req_EM_T x 0) as [->|ne]; [rewrite apow_0; lra|].
  rewrite apow_nonzero by assumption; replace 2 with (INR 2) by (simpl; ring).
  rewrite Rpower_pow by (now apply Rabs_pos_lt).
  simpl; rewrite !Rmult_1_r, <- Rabs_mult, Rabs_right; [reflexivity|].
  apply Rle_ge, Rle_0_sqr.
Qed.

Definition normal_density (mu sigma x : R) : R :=
  / (sigma * sqrt (2 * PI)) * exp (- (x - mu) ^ 2 / (2 * sigma ^ 2)).

(* Appendix A: beta = 2 gives the normal density, up to the factor that normalises, with the mean mu
   and the standard deviation alpha/sqrt(2). *)
Theorem ggd_normal alpha mu : 0 < alpha -> exists sigma c, 0 < sigma /\ 0 < c /\
  sigma = alpha / sqrt 2 /\
  forall x, exp (- apow ((x - mu) / alpha) 2) = c * normal_density mu sigma x.
Proof.
  intros Ha; assert (s2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (pi := PI_RGT_0); assert (sp : 0 < sqrt (2 * PI)) by (apply sqrt_lt_R0; lra).
  assert (h : 0 < alpha / sqrt 2) by now apply Rdiv_lt_0_compat.
  exists (alpha / sqrt 2), (alpha / sqrt 2 * sqrt (2 * PI)).
  repeat split; [assumption | now apply Rmult_lt_0_compat|].
  intros x; unfold normal_density; rewrite apow_2.
  replace ((alpha / sqrt 2) ^ 2) with (alpha ^ 2 / 2).
  - replace (- ((x - mu) / alpha) ^ 2) with (- (x - mu) ^ 2 / (2 * (alpha ^ 2 / 2))) by (field; lra).
    field; lra.
  - unfold Rdiv; rewrite Rpow_mult_distr, pow_inv, pow2_sqrt by lra; reflexivity.
Qed.

(* Appendix A: a larger beta gives a sharper prior, p(x)/p(mu) falls as beta grows, where
   |x - mu| > alpha. *)
Theorem ggd_larger_beta alpha mu beta beta' x : 0 < alpha -> 0 < beta < beta' ->
  alpha < Rabs (x - mu) ->
  let p b y := exp (- apow ((y - mu) / alpha) b) in
  p beta' x / p beta' mu < p beta x / p beta mu.
Proof.
  intros Ha Hb Hx p; unfold p.
  replace ((mu - mu) / alpha) with 0 by (unfold Rdiv; ring).
  rewrite !apow_0, Ropp_0, exp_0 by lra; unfold Rdiv at 1 3; rewrite Rinv_1, !Rmult_1_r.
  apply exp_increasing, Ropp_lt_contravar.
  assert (ne : x - mu <> 0) by (intros E; rewrite E, Rabs_R0 in Hx; lra).
  assert (E : (x - mu) / alpha <> 0).
  { unfold Rdiv; apply Rmult_integral_contrapositive; split; [assumption|].
    apply Rinv_neq_0_compat; lra. }
  rewrite !apow_nonzero by assumption; apply Rpower_lt_exponent; [|lra].
  unfold Rdiv; rewrite Rabs_mult, (Rabs_right (/ alpha)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, Ha).
  apply Rmult_lt_reg_r with alpha; [assumption|].
  rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(* Within |x - mu| < alpha it is the other way round. *)
Theorem ggd_larger_beta_fails_inside alpha mu beta beta' x : 0 < alpha -> 0 < beta < beta' ->
  0 < Rabs (x - mu) < alpha ->
  exp (- apow ((x - mu) / alpha) beta) < exp (- apow ((x - mu) / alpha) beta').
Proof.
  intros Ha Hb Hx; apply exp_increasing, Ropp_lt_contravar.
  assert (ne : x - mu <> 0) by (intros E; rewrite E, Rabs_R0 in Hx; lra).
  assert (E : (x - mu) / alpha <> 0).
  { unfold Rdiv; apply Rmult_integral_contrapositive; split; [assumption|].
    apply Rinv_neq_0_compat; lra. }
  rewrite !apow_nonzero by assumption.
  unfold Rdiv; rewrite Rabs_mult, (Rabs_right (/ alpha)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, Ha).
  set (y := Rabs (x - mu) * / alpha).
  assert (Hy : 0 < y < 1).
  { unfold y; split; [apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]|].
    apply Rmult_lt_reg_r with alpha; [assumption|]; rewrite Rmult_assoc, Rinv_l; lra. }
  unfold Rpower; apply exp_increasing.
  assert (ln y < 0) by (rewrite <- ln_1; apply ln_increasing; lra); nra.
Qed.

(* The bias of appendix C, b_ij = -e^theta_alpha (|j - i - mu| + epsilon)^theta_beta. *)
Definition implemented (theta_alpha theta_beta mu epsilon : R) (i j : nat) : R :=
  - exp theta_alpha * Rpower (Rabs (INR j - INR i - mu) + epsilon) theta_beta.

Lemma exp_near_1 u : Rabs u <= / 2 -> Rabs (exp u - 1) <= 2 * Rabs u.
Proof.
  intros H; apply abs_bounds in H as H'.
  destruct (Req_EM_T u 0) as [->|ne]; [rewrite exp_0, Rminus_diag_eq, Rabs_R0 by reflexivity; lra|].
  assert (a := exp_ineq1 u ne); assert (b := exp_ineq1 (- u) ltac:(lra)).
  assert (c : exp u * exp (- u) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (P := exp_pos u).
  unfold Rabs; destruct (Rcase_abs u), (Rcase_abs (exp u - 1)); try lra; nra.
Qed.

Lemma power_near_1 c t : 0 < c -> Rabs (t * ln c) <= / 2 -> Rabs (Rpower c t - 1) <= 2 * (Rabs t * Rabs (ln c)).
Proof. intros Hc H; unfold Rpower; rewrite <- Rabs_mult; now apply exp_near_1. Qed.

(* Appendix H.1: as theta_beta -> 0 (from above, or from below) all biases of a row approach each
   other, where the bias has appendix C's epsilon > 0. *)
Theorem ggd_limits theta_alpha mu epsilon i j j' : 0 < epsilon -> forall eta, 0 < eta ->
  exists delta, 0 < delta /\ forall theta_beta, Rabs theta_beta < delta ->
    Rabs (implemented theta_alpha theta_beta mu epsilon i j -
          implemented theta_alpha theta_beta mu epsilon i j') <= eta.
Proof.
  intros He eta Heta.
  set (c := Rabs (INR j - INR i - mu) + epsilon); set (c' := Rabs (INR j' - INR i - mu) + epsilon).
  assert (Hc : 0 < c) by (unfold c; pose proof (Rabs_pos (INR j - INR i - mu)); lra).
  assert (Hc' : 0 < c') by (unfold c'; pose proof (Rabs_pos (INR j' - INR i - mu)); lra).
  set (L := 1 + Rabs (ln c) + Rabs (ln c')).
  assert (a := Rabs_pos (ln c)); assert (a' := Rabs_pos (ln c')); assert (HL : 1 <= L) by (unfold L; lra).
  assert (E := exp_pos theta_alpha).
  exists (Rmin (/ (2 * L)) (eta / (2 * exp theta_alpha * L))); split.
  { apply Rmin_glb_lt; [apply Rinv_0_lt_compat; lra | apply Rdiv_lt_0_compat; nra]. }
  intros t Ht.
  assert (H1 := Rlt_le_trans _ _ _ Ht (Rmin_l _ _)); assert (H2 := Rlt_le_trans _ _ _ Ht (Rmin_r _ _)).
  assert (h := Rabs_pos t); clear Ht.
  assert (K1 : Rabs t * L <= / 2).
  { apply (Rmult_lt_compat_r L) in H1; [|lra].
    replace (/ (2 * L) * L) with (/ 2) in H1 by (field; lra); lra. }
  assert (K2 : exp theta_alpha * (2 * (Rabs t * L)) <= eta).
  { apply (Rmult_lt_compat_r (2 * exp theta_alpha * L)) in H2; [|nra].
    replace (eta / (2 * exp theta_alpha * L) * (2 * exp theta_alpha * L)) with eta in H2 by (field; nra).
    lra. }
  assert (B := power_near_1 c t Hc ltac:(rewrite Rabs_mult; unfold L in K1; nra)).
  assert (B' := power_near_1 c' t Hc' ltac:(rewrite Rabs_mult; unfold L in K1; nra)).
  unfold implemented; fold c; fold c'.
  replace (- exp theta_alpha * Rpower c t - - exp theta_alpha * Rpower c' t)
    with (exp theta_alpha * (- (Rpower c t - 1) + (Rpower c' t - 1))) by ring.
  rewrite Rabs_mult, (Rabs_right (exp theta_alpha)) by lra.
  eapply Rle_trans; [|exact K2]; apply Rmult_le_compat_l; [lra|].
  eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_Ropp; unfold L; nra.
Qed.

(* Its rate, for alpha = 1 and mu = 0: the bias of any key and that of the own key differ by at most
   ((d + epsilon)/epsilon)^beta - 1. *)
Theorem ggd_limits_rate theta_beta epsilon i j : 0 < epsilon <= 1 -> 0 <= theta_beta ->
  Rabs (implemented 0 theta_beta 0 epsilon i j - implemented 0 theta_beta 0 epsilon i i) <=
  Rpower ((distance i j + epsilon) / epsilon) theta_beta - 1.
Proof.
  intros He Hb; unfold implemented; rewrite !Rminus_0_r, exp_0; fold (distance i j); fold (distance i i).
  rewrite distance_self, Rplus_0_l; assert (d := distance_nonneg i j).
  set (q := (distance i j + epsilon) / epsilon).
  assert (Hq : 1 <= q) by (unfold q; apply Rmult_le_reg_r with epsilon; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  replace (distance i j + epsilon) with (epsilon * q) by (unfold q; field; lra).
  rewrite <- Rpower_mult_distr by lra.
  assert (a : 1 <= Rpower q theta_beta).
  { rewrite <- (Rpower_O q) at 1 by lra; apply Rpower_le_exponent; lra. }
  assert (P := Rpower_pos epsilon theta_beta).
  assert (b : Rpower epsilon theta_beta <= 1).
  { unfold Rpower; rewrite <- exp_0; apply exp_le.
    assert (ln epsilon <= 0) by (rewrite <- ln_1; apply ln_le; lra); nra. }
  rewrite Rabs_left1; nra.
Qed.

(* Without epsilon the own key's bias differs from any other by at least 1, at every beta > 0. *)
Theorem ggd_limits_fails_without_epsilon beta i j : 0 < beta -> i <> j ->
  1 <= Rabs (ggd 1 beta 0 i j - ggd 1 beta 0 i i).
Proof.
  intros Hb H; rewrite ggd_own, ggd_off, Rpower_base_1 by (lra || assumption).
  assert (h := Rpower_le_exponent (distance i j) 0 beta (distance_ge_1 i j H) ltac:(lra)).
  rewrite Rpower_O in h by (pose proof (distance_ge_1 i j H); lra).
  rewrite Rabs_left1; lra.
Qed.

(* Appendix H.1: theta_beta = 0 is a uniform prior over the keys, and changes no weight, whatever
   theta_alpha and mu are. *)
Theorem beta_zero_uniform theta_alpha mu epsilon n f i j : 0 < epsilon -> (j < n)%nat ->
  softmax n (implemented theta_alpha 0 mu epsilon i) j = / INR n /\
  softmax n (fun z => f z + implemented theta_alpha 0 mu epsilon i z) j = softmax n f j.
Proof.
  intros He Hj.
  assert (C : forall z, implemented theta_alpha 0 mu epsilon i z = - exp theta_alpha).
  { intros z; unfold implemented; rewrite Rpower_O; [ring|].
    pose proof (Rabs_pos (INR z - INR i - mu)); lra. }
  split.
  - rewrite softmax_inv, (sum_ext n _ (fun _ => 1)), sum_const, Rmult_1_r; [reflexivity|].
    intros; rewrite !C, Rminus_diag_eq, exp_0; reflexivity.
  - rewrite <- (softmax_shift n f (- exp theta_alpha)); apply softmax_ext; [|assumption].
    intros; now rewrite C.
Qed.

(* Appendix C: b_ij is the GGD with beta = theta_beta and alpha = e^(-theta_alpha/theta_beta), where
   epsilon = 0, theta_beta is not 0, and the key does not stand at mu. *)
Theorem theta_parametrisation theta_alpha theta_beta mu i j : theta_beta <> 0 ->
  INR j - INR i <> mu ->
  implemented theta_alpha theta_beta mu 0 i j =
  ggd (exp (- theta_alpha / theta_beta)) theta_beta mu i j.
Proof.
  intros Hb H; unfold implemented, ggd.
  assert (ne : INR j - INR i - mu <> 0) by lra.
  assert (P := exp_pos (- theta_alpha / theta_beta)).
  assert (Q : 0 < Rabs (INR j - INR i - mu)) by now apply Rabs_pos_lt.
  rewrite Rplus_0_r, apow_nonzero.
  - unfold Rdiv at 1; rewrite Rabs_mult, (Rabs_right (/ _)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, P).
    fold (Rabs (INR j - INR i - mu) / exp (- theta_alpha / theta_beta)).
    rewrite Rpower_div by assumption.
    replace (Rpower (exp (- theta_alpha / theta_beta)) (- theta_beta)) with (exp theta_alpha); [ring|].
    unfold Rpower; rewrite ln_exp; f_equal; field; assumption.
  - apply Rmult_integral_contrapositive; split; [assumption | apply Rinv_neq_0_compat; lra].
Qed.

(* Appendix C, "ensures alpha >= 0": where theta_beta is not 0, alpha = e^(-theta_alpha/theta_beta)
   is above 0, and the bias (epsilon = 0) is the GGD with it. *)
Theorem theta_alpha_positive theta_alpha theta_beta mu : theta_beta <> 0 ->
  exists alpha, alpha = exp (- theta_alpha / theta_beta) /\ 0 < alpha /\
    forall i j, INR j - INR i <> mu ->
      implemented theta_alpha theta_beta mu 0 i j = ggd alpha theta_beta mu i j.
Proof.
  intros Hb; eexists; split; [reflexivity|]; split; [apply exp_pos|].
  intros; now apply theta_parametrisation.
Qed.

(* At theta_beta = 0 no alpha gives the bias unless theta_alpha = 0. *)
Theorem theta_alpha_positive_fails_at_0 theta_alpha alpha mu i j : 0 < alpha ->
  INR j - INR i <> mu -> theta_alpha <> 0 ->
  implemented theta_alpha 0 mu 0 i j <> ggd alpha 0 mu i j.
Proof.
  intros Ha H Ht; unfold implemented, ggd.
  assert (ne : INR j - INR i - mu <> 0) by lra.
  rewrite Rplus_0_r, Rpower_O by now apply Rabs_pos_lt.
  rewrite apow_nonzero, Rpower_O.
  - intros E; apply Ht; rewrite <- (ln_exp theta_alpha); replace (exp theta_alpha) with 1 by lra; apply ln_1.
  - apply Rabs_pos_lt, Rmult_integral_contrapositive; split; [assumption | apply Rinv_neq_0_compat; lra].
  - apply Rmult_integral_contrapositive; split; [assumption | apply Rinv_neq_0_compat; lra].
Qed.

(* Appendix C: with epsilon > 0 every b_ij is finite for theta_beta < 0:
   b_ij >= -e^theta_alpha epsilon^theta_beta. *)
Theorem epsilon_division theta_alpha theta_beta mu epsilon i j : 0 < epsilon -> theta_beta < 0 ->
  - exp theta_alpha * Rpower epsilon theta_beta <= implemented theta_alpha theta_beta mu epsilon i j.
Proof.
  intros He Hb; unfold implemented.
  assert (E := exp_pos theta_alpha).
  assert (Rpower (Rabs (INR j - INR i - mu) + epsilon) theta_beta <= Rpower epsilon theta_beta).
  { apply Rpower_anti_le; [|lra]; pose proof (Rabs_pos (INR j - INR i - mu)); lra. }
  nra.
Qed.

(* mu = e^theta_mu - e^-theta_mu of appendix C. *)
Definition location (theta_mu : R) : R := exp theta_mu - exp (- theta_mu).

(* Section 3 and appendix C: mu is 0 for theta_mu = 0, increases with theta_mu and takes every real
   value. *)
Theorem mu_parametrisation : location 0 = 0 /\
  (forall t t', t < t' -> location t < location t') /\
  forall mu, exists t, location t = mu.
Proof.
  unfold location; split; [rewrite Ropp_0; ring|]; split.
  - intros t t' H; assert (a := exp_increasing t t' H).
    assert (b := exp_increasing (- t') (- t) ltac:(lra)); lra.
  - intros mu; set (s := sqrt (mu ^ 2 / 4 + 1)).
    assert (h : 0 <= mu ^ 2 / 4 + 1) by nra.
    assert (s2 : s * s = mu ^ 2 / 4 + 1) by now apply sqrt_sqrt.
    assert (s0 : 0 <= s) by apply sqrt_pos.
    assert (P : 0 < mu / 2 + s) by nra.
    exists (ln (mu / 2 + s)); rewrite exp_Ropp, exp_ln by assumption.
    replace (/ (mu / 2 + s)) with (s - mu / 2); [lra|].
    apply Rmult_eq_reg_r with (mu / 2 + s); [|lra]; rewrite Rinv_l by lra; nra.
Qed.

(* Section 2.5: for beta in (0, 1) the largest prior is at j - i = mu for an integer mu <= 0, and,
   for mu > 0, among the visible keys at j = i. *)
Theorem mu_peak alpha beta : 0 < alpha -> 0 < beta < 1 ->
  (forall k i j, (k <= i)%nat -> (j <= i)%nat -> j <> (i - k)%nat ->
     ggd alpha beta (- INR k) i j < ggd alpha beta (- INR k) i (i - k)) /\
  (forall mu i j, 0 < mu -> (j < i)%nat -> ggd alpha beta mu i j < ggd alpha beta mu i i).
Proof.
  intros Ha Hb; assert (Ia := Rinv_0_lt_compat _ Ha); split.
  - intros k i j Hk Hj ne; unfold ggd; rewrite minus_INR by assumption.
    replace ((INR i - INR k - INR i - - INR k) / alpha) with 0 by (unfold Rdiv; ring).
    apply Ropp_lt_contravar, apow_lt; [lra|]; rewrite Rabs_R0; apply Rabs_pos_lt.
    apply Rmult_integral_contrapositive; split; [|lra].
    intros E; apply ne, INR_eq; rewrite minus_INR by assumption; lra.
  - intros mu i j Hm Hj; apply lt_INR in Hj; unfold ggd; apply Ropp_lt_contravar, apow_lt; [lra|].
    unfold Rdiv; rewrite !Rabs_mult; apply Rmult_lt_compat_r; [rewrite Rabs_right; lra|].
    rewrite !Rabs_left; lra.
Qed.

(* Appendix H.1, the first start: theta_beta = 1, theta_mu = 0 and theta_alpha = ln m_h, which
   differs from head to head as ALiBi's slopes m_h do, give every head the weights of ALiBi. *)
Theorem alibi_initialisation (slope : nat -> R) epsilon n f h i j : (forall k, 0 < slope k) ->
  0 < epsilon -> (j < n)%nat ->
  softmax n (fun z => f z + implemented (ln (slope h)) 1 (location 0) epsilon i z) j =
  softmax n (fun z => f z + alibi (slope h) i z) j.
Proof.
  intros Hm He Hj; rewrite (proj1 mu_parametrisation).
  rewrite <- (softmax_shift n (fun z => f z + alibi (slope h) i z) (- slope h * epsilon)).
  apply softmax_ext; [|assumption]; intros z _; unfold implemented, alibi.
  rewrite Rminus_0_r, exp_ln by apply Hm; fold (distance i z).
  rewrite Rpower_1; [ring|]; pose proof (distance_nonneg i z); lra.
Qed.

(* Appendix A, Figure 5 draws |(1/alpha) (j - i)|^beta - mu as the matrix that is added; it is
   refuted at every key but the own one, for mu = 0. *)
Theorem figure_5_fails alpha beta i j : 0 < alpha -> i <> j ->
  apow (/ alpha * (INR j - INR i)) beta - 0 <> ggd alpha beta 0 i j.
Proof.
  intros Ha H; unfold ggd; rewrite Rminus_0_r.
  replace ((INR j - INR i - 0) / alpha) with (/ alpha * (INR j - INR i)) by (unfold Rdiv; ring).
  assert (P : 0 < apow (/ alpha * (INR j - INR i)) beta); [|lra].
  rewrite apow_nonzero; [apply Rpower_pos|].
  apply Rmult_integral_contrapositive; split; [apply Rinv_neq_0_compat; lra|].
  intros E; apply H, INR_eq; lra.
Qed.
