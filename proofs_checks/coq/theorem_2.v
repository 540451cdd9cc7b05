(* SPDX-License-Identifier: Apache-2.0 *)
(* BAM, Theorem 2: the GGD prior against ALiBi. *)
From Plumbline Require Import base.

(* |(j - i - mu)/alpha|^beta / (m |j - i|), the ratio B_ij / A_ij. *)
Definition ratio (m alpha beta mu : R) (i j : nat) : R := ggd alpha beta mu i j / alibi m i j.

Lemma ratio_off m alpha beta i j : 0 < m -> 0 < alpha -> i <> j ->
  ratio m alpha beta 0 i j = Rpower alpha (- beta) / m * Rpower (distance i j) (beta - 1).
Proof.
  intros Hm Ha H; unfold ratio, alibi; rewrite ggd_off by assumption.
  assert (d := distance_ge_1 i j H).
  unfold Rminus; rewrite Rpower_plus, (Rpower_Ropp _ 1), Rpower_1 by lra; field; lra.
Qed.

(* BAM, Theorem 2: B_ij / A_ij < 1 for some mu and alpha, and for beta < 1, beta not 0. The mu and
   alpha serve every pair of positions. *)
Theorem theorem_2 m beta : 0 < m -> beta < 1 -> beta <> 0 ->
  exists mu alpha, 0 < alpha /\ forall i j, i <> j -> ratio m alpha beta mu i j < 1.
Proof.
  intros Hm Hb Hb0; exists 0, (Rpower (m / 2) (- / beta)); split; [apply Rpower_pos|].
  intros i j H; rewrite ratio_off by (assumption || apply Rpower_pos).
  rewrite Rpower_mult; replace (- / beta * - beta) with 1 by (field; assumption).
  rewrite Rpower_1 by lra; replace (m / 2 / m) with (/ 2) by (field; lra).
  assert (d := distance_ge_1 i j H).
  assert (Rpower (distance i j) (beta - 1) <= Rpower (distance i j) 0)
    by (apply Rpower_le_exponent; lra).
  rewrite Rpower_O in * by lra; lra.
Qed.

(* beta = 0 has to be left out: |y|^0 = 1, and 1/(m |j - i|) >= 1 at the neighbour for every slope
   m <= 1. *)
Theorem theorem_2_fails_at_0 m alpha mu : 0 < m <= 1 -> 1 <= ratio m alpha 0 mu 1 0.
Proof.
  intros Hm; unfold ratio, ggd, alibi; rewrite distance_causal by lia; simpl.
  assert (E : apow ((0 - 1 - mu) / alpha) 0 = 1).
  { unfold apow; destruct (Req_EM_T ((0 - 1 - mu) / alpha) 0); [destruct (Req_EM_T 0 0); lra|].
    apply Rpower_O, Rabs_pos_lt; assumption. }
  rewrite E; replace (- (1) / (- m * (1 - 0))) with (/ m) by (field; lra).
  rewrite <- Rinv_1 at 1; apply Rinv_le_contravar; lra.
Qed.

(* Appendix B.5, the displayed chain: for mu = 0, |(j - i)/alpha|^beta = m |j - i|^beta and beta in
   (0, 1), B_ij / A_ij = |j - i|^(beta - 1) < 1, at distances of 2 and more. *)
Theorem theorem_2_proof m alpha beta i j : 0 < m -> 0 < alpha -> 0 < beta < 1 ->
  (forall x, 0 < x -> apow (x / alpha) beta = m * apow x beta) -> 2 <= distance i j ->
  ratio m alpha beta 0 i j = Rpower (distance i j) (beta - 1) /\
  Rpower (distance i j) (beta - 1) < 1.
Proof.
  intros Hm Ha Hb E Hd.
  assert (ne : i <> j) by (intros ->; rewrite distance_self in Hd; lra).
  assert (Em : Rpower alpha (- beta) = m).
  { specialize (E 1 Rlt_0_1); rewrite !apow_pos in E by (try apply Rdiv_lt_0_compat; lra).
    rewrite Rpower_div, Rpower_base_1 in E by lra; lra. }
  split.
  - rewrite ratio_off, Em by assumption; field; lra.
  - assert (L := Rpower_lt_exponent (distance i j) (beta - 1) 0 ltac:(lra) ltac:(lra)).
    rewrite Rpower_O in L; lra.
Qed.

(* The scale of the proof, alpha = m^(-1/beta) in place of the printed m^(-1/m), does what is said of
   it. *)
Theorem theorem_2_scale_corrected m beta x : 0 < m -> beta <> 0 -> 0 < x ->
  apow (x / Rpower m (- / beta)) beta = m * apow x beta.
Proof.
  intros Hm Hb Hx; rewrite !apow_pos by (try apply Rdiv_lt_0_compat; try apply Rpower_pos; assumption).
  rewrite Rpower_div, Rpower_mult by (apply Rpower_pos || assumption).
  replace (- / beta * - beta) with 1 by (field; assumption); rewrite Rpower_1 by assumption; ring.
Qed.

(* Section 2.3, "necessarily": for beta in (0, 1) and every alpha, B_ij / A_ij < 1 (mu = 0) beyond
   d* = (alpha^-beta / m)^(1/(1 - beta)). *)
Theorem theorem_2_necessarily m alpha beta i j : 0 < m -> 0 < alpha -> beta < 1 -> i <> j ->
  Rpower (Rpower alpha (- beta) / m) (/ (1 - beta)) < distance i j ->
  ratio m alpha beta 0 i j < 1.
Proof.
  intros Hm Ha Hb H Hd; rewrite ratio_off by assumption.
  set (c := Rpower alpha (- beta) / m) in *.
  assert (Hc : 0 < c) by (apply Rdiv_lt_0_compat; [apply Rpower_pos | assumption]).
  assert (d := distance_ge_1 i j H).
  assert (L : c < Rpower (distance i j) (1 - beta)).
  { rewrite <- (Rpower_root c (1 - beta)) at 1 by lra.
    apply Rlt_Rpower_l; [lra|]; split; [apply Rpower_pos | assumption]. }
  replace (beta - 1) with (- (1 - beta)) by ring; rewrite Rpower_Ropp.
  assert (P := Rpower_pos (distance i j) (1 - beta)).
  apply Rmult_lt_reg_r with (Rpower (distance i j) (1 - beta)); [assumption|].
  rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

(* Before d* it is above 1: "necessarily" is false without the condition. *)
Theorem theorem_2_necessarily_fails_before m alpha beta i j : 0 < m -> 0 < alpha -> beta < 1 ->
  i <> j -> distance i j < Rpower (Rpower alpha (- beta) / m) (/ (1 - beta)) ->
  1 < ratio m alpha beta 0 i j.
Proof.
  intros Hm Ha Hb H Hd; rewrite ratio_off by assumption.
  set (c := Rpower alpha (- beta) / m) in *.
  assert (Hc : 0 < c) by (apply Rdiv_lt_0_compat; [apply Rpower_pos | assumption]).
  assert (d := distance_ge_1 i j H).
  assert (L : Rpower (distance i j) (1 - beta) < c).
  { rewrite <- (Rpower_root c (1 - beta)) at 1 by lra.
    apply Rlt_Rpower_l; lra. }
  replace (beta - 1) with (- (1 - beta)) by ring; rewrite Rpower_Ropp.
  assert (P := Rpower_pos (distance i j) (1 - beta)).
  apply Rmult_lt_reg_r with (Rpower (distance i j) (1 - beta)); [assumption|].
  rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

(* Section 2.5: with beta in (0, 1) the GGD prior has a heavier tail than Laplace's,
   exp(B_ij)/exp(A_ij) -> infinity as |j - i| -> infinity, for every alpha, m and mu. *)
Theorem heavier_tail m alpha beta mu : 0 < m -> 0 < alpha -> 0 < beta < 1 ->
  forall K, exists D, forall i j, D <= distance i j ->
    K <= exp (ggd alpha beta mu i j) / exp (alibi m i j).
Proof.
  intros Hm Ha Hb K.
  set (c := Rpower (alpha / 2) (- beta) * 2 / m).
  assert (Hc : 0 < c) by (repeat apply Rmult_lt_0_compat; try apply Rpower_pos; try apply Rinv_0_lt_compat; lra).
  exists (Rmax (Rmax (Rpower c (/ (1 - beta))) (Rabs mu)) (Rmax 1 (K * 2 / m))); intros i j HD.
  assert (H1 := Rle_trans _ _ _ (Rmax_l _ _) HD); assert (H2 := Rle_trans _ _ _ (Rmax_r _ _) HD).
  assert (Ha1 := Rle_trans _ _ _ (Rmax_l _ _) H1); assert (Ha2 := Rle_trans _ _ _ (Rmax_r _ _) H1).
  assert (Ha3 := Rle_trans _ _ _ (Rmax_l _ _) H2); assert (Ha4 := Rle_trans _ _ _ (Rmax_r _ _) H2).
  clear HD H1 H2; set (d := distance i j) in *.
  assert (L : c <= Rpower d (1 - beta)).
  { rewrite <- (Rpower_root c (1 - beta)) at 1 by lra.
    apply Rle_Rpower_l; [lra|]; split; [apply Rpower_pos | assumption]. }
  assert (B : apow ((INR j - INR i - mu) / alpha) beta <= m * d / 2).
  { apply Rle_trans with (apow (d / (alpha / 2)) beta).
    - apply apow_le; [lra|].
      rewrite (Rabs_right (d / (alpha / 2))) by (apply Rle_ge, Rlt_le, Rdiv_lt_0_compat; lra).
      unfold Rdiv at 1; rewrite Rabs_mult, (Rabs_right (/ alpha)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, Ha).
      replace (d / (alpha / 2)) with ((d + d) * / alpha) by (field; lra).
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Ha|].
      unfold Rminus at 1; eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_Ropp.
      fold (distance i j); fold d; lra.
    - rewrite apow_pos, Rpower_div by (try apply Rdiv_lt_0_compat; lra).
      replace (m * d / 2) with (m / 2 * (Rpower d (1 - beta) * Rpower d beta)).
      + replace (Rpower (alpha / 2) (- beta)) with (m / 2 * c) by (unfold c; field; lra).
        assert (P := Rpower_pos d beta); rewrite Rmult_assoc.
        apply Rmult_le_compat_l; [lra|]; now apply Rmult_le_compat_r; [left|].
      + rewrite <- Rpower_plus; replace (1 - beta + beta) with 1 by ring.
        rewrite Rpower_1 by lra; field. }
  assert (E : exp (ggd alpha beta mu i j) / exp (alibi m i j) =
              exp (ggd alpha beta mu i j - alibi m i j))
    by (unfold Rminus, Rdiv; now rewrite exp_plus, exp_Ropp).
  rewrite E; apply Rle_trans with (m * d / 2).
  - apply (Rmult_le_compat_r (m / 2)) in Ha4; [|lra].
    replace (K * 2 / m * (m / 2)) with K in Ha4 by (field; lra); lra.
  - apply Rle_trans with (exp (m * d / 2)).
    + assert (h : 0 < m * d / 2) by nra; assert (e := exp_ineq1 (m * d / 2) ltac:(lra)); lra.
    + apply exp_le; unfold ggd, alibi; fold d; lra.
Qed.

Lemma power_at_most_linear m beta d : 0 < m -> 0 < beta <= 1 -> 1 <= d ->
  Rpower d beta <= d.
Proof. intros; rewrite <- (Rpower_1 d) at 2 by lra; apply Rpower_le_exponent; lra. Qed.

Lemma Rpower_subadditive u v b : 0 < u -> 0 < v -> 0 < b <= 1 ->
  Rpower (u + v) b <= Rpower u b + Rpower v b.
Proof.
  intros Hu Hv Hb.
  assert (part : forall x, 0 < x <= u + v -> x / (u + v) * Rpower (u + v) b <= Rpower x b).
  { intros x Hx; set (q := x / (u + v)).
    assert (Hq : 0 < q) by (apply Rdiv_lt_0_compat; lra).
    assert (Hq1 : q <= 1) by (apply Rmult_le_reg_r with (u + v); [lra|]; unfold q, Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
    replace x with (q * (u + v)) at 1 by (unfold q; field; lra).
    rewrite <- Rpower_mult_distr by lra; apply Rmult_le_compat_r; [left; apply Rpower_pos|].
    rewrite <- (Rpower_1 q) at 1 by assumption; unfold Rpower; apply exp_le.
    assert (ln q <= 0) by (rewrite <- ln_1; apply ln_le; lra); nra. }
  assert (a := part u ltac:(lra)); assert (c := part v ltac:(lra)).
  replace (Rpower (u + v) b) with (u / (u + v) * Rpower (u + v) b + v / (u + v) * Rpower (u + v) b) by (field; lra).
  lra.
Qed.

Lemma apow_triangle x y b : 0 < b <= 1 -> apow x b <= apow y b + apow (x - y) b.
Proof.
  intros Hb; assert (ny := apow_nonneg y b); assert (nd := apow_nonneg (x - y) b).
  destruct (Req_EM_T y 0) as [->|hy]; [rewrite Rminus_0_r in *; lra|].
  destruct (Req_EM_T (x - y) 0) as [e|hd]; [replace x with y in * by lra; lra|].
  rewrite (apow_nonzero y), (apow_nonzero (x - y)) by assumption.
  assert (py := Rabs_pos_lt y hy); assert (pd := Rabs_pos_lt (x - y) hd).
  eapply Rle_trans; [|apply Rpower_subadditive; assumption].
  rewrite <- apow_pos by lra; apply apow_le; [lra|].
  rewrite (Rabs_right (Rabs y + Rabs (x - y))) by lra.
  replace x with (y + (x - y)) at 1 by ring; apply Rabs_triang.
Qed.

(* Section 2.5, last paragraph: with beta in (0, 1), where alpha >= m^(-1/beta), the weight of the
   query's own key is at most ALiBi's, whatever mu and the content are. *)
Theorem fades_more_than_alibi m alpha beta mu n f i : 0 < m -> 0 < beta < 1 ->
  Rpower m (- / beta) <= alpha -> (i < n)%nat ->
  softmax n (fun z => f z + ggd alpha beta mu i z) i <=
  softmax n (fun z => f z + alibi m i z) i.
Proof.
  intros Hm Hb Ha Hi; apply softmax_le; [lia|]; intros z Hz.
  assert (P := Rpower_pos m (- / beta)).
  assert (C : Rpower alpha (- beta) <= m).
  { apply Rle_trans with (Rpower (Rpower m (- / beta)) (- beta)); [apply Rpower_anti_le; lra|].
    rewrite Rpower_mult; replace (- / beta * - beta) with 1 by (field; lra).
    rewrite Rpower_1 by assumption; lra. }
  enough (alibi m i z - alibi m i i <= ggd alpha beta mu i z - ggd alpha beta mu i i) by lra.
  apply Rle_trans with (ggd alpha beta 0 i z).
  - unfold alibi at 2; rewrite distance_self.
    destruct (Nat.eq_dec i z) as [<-|ne]; [rewrite ggd_own by lra; unfold alibi; rewrite distance_self; lra|].
    rewrite ggd_off by (lra || assumption).
    assert (h := power_at_most_linear m beta (distance i z) Hm ltac:(lra) (distance_ge_1 i z ne)).
    assert (h' := Rpower_pos (distance i z) beta); unfold alibi; nra.
  - unfold ggd; assert (t := apow_triangle ((INR z - INR i - mu) / alpha) ((INR i - INR i - mu) / alpha) beta ltac:(lra)).
    replace ((INR z - INR i - mu) / alpha - (INR i - INR i - mu) / alpha)
      with ((INR z - INR i - 0) / alpha) in t by (unfold Rdiv; ring); lra.
Qed.

(* With a smaller alpha it is the other way round for two keys of equal content. *)
Theorem fades_more_than_alibi_fails_below m alpha beta : 0 < m -> 0 < beta ->
  0 < alpha < Rpower m (- / beta) ->
  softmax 2 (alibi m 1) 1 < softmax 2 (ggd alpha beta 0 1) 1.
Proof.
  intros Hm Hb Ha.
  assert (C : m < Rpower alpha (- beta)).
  { apply Rle_lt_trans with (Rpower (Rpower m (- / beta)) (- beta)); [|apply Rpower_anti; lra].
    rewrite Rpower_mult; replace (- / beta * - beta) with 1 by (field; lra).
    rewrite Rpower_1 by assumption; lra. }
  rewrite !softmax_inv; apply Rinv_lt_contravar.
  - apply Rmult_lt_0_compat; apply sum_pos; try lia; intros; apply exp_pos.
  - simpl; rewrite ggd_own, ggd_off by (lra || discriminate).
    unfold alibi; rewrite !distance_self; replace (distance 1 0) with 1
      by (rewrite distance_causal by lia; simpl; ring).
    rewrite Rpower_base_1.
    assert (e := exp_increasing (- (Rpower alpha (- beta) * 1) - 0) (- m * 1 - - m * 0) ltac:(lra)).
    replace (- m * 0 - - m * 0) with 0 by ring; replace (0 - 0) with 0 by ring; lra.
Qed.

(* The bias of that prior by distance: -m d^beta, 0 at the own key. *)
Definition power_bias (m beta : R) (d : nat) : R := - (m * apow (INR d) beta).

(* What is true in place of "a smaller bias means more weight" (appendix B.5): the mass at distance w
   and beyond is at least that under ALiBi, for every window w, every content f by distance and every
   number n of keys. *)
Theorem theorem_2_weights_corrected m beta n w f :
  0 < m -> 0 < beta < 1 -> (0 < n)%nat -> (w <= n)%nat ->
  sum_from w n (softmax n (fun d => f d + - m * INR d)) <=
  sum_from w n (softmax n (fun d => f d + power_bias m beta d)).
Proof.
  intros Hm Hb Hn Hw; apply mass_moves_outwards; try assumption.
  intros d e Hde He; unfold power_bias.
  enough (apow (INR e) beta - apow (INR d) beta <= INR e - INR d) by nra.
  apply le_INR in Hde.
  destruct (Nat.eq_dec d 0) as [->|nd].
  - simpl (INR 0); rewrite apow_0 by lra.
    destruct (Nat.eq_dec e 0) as [->|ne]; [simpl; rewrite apow_0; lra|].
    assert (1 <= INR e) by (apply (le_INR 1); lia).
    rewrite apow_pos by lra; assert (h := power_at_most_linear m beta (INR e) Hm ltac:(lra) H); lra.
  - assert (Hd : 1 <= INR d) by (apply (le_INR 1); lia).
    rewrite !apow_pos by lra.
    set (x := INR d) in *; set (y := INR e) in *.
    assert (Hq : 1 <= y / x) by (apply Rmult_le_reg_r with x; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
    assert (h := power_at_most_linear m beta (y / x) Hm ltac:(lra) Hq).
    assert (h' := power_at_most_linear m beta x Hm ltac:(lra) Hd).
    assert (E : Rpower y beta = Rpower x beta * Rpower (y / x) beta).
    { rewrite Rpower_mult_distr by (try apply Rdiv_lt_0_compat; lra); f_equal; field; lra. }
    assert (P := Rpower_pos x beta).
    assert (Rpower x beta * (Rpower (y / x) beta - 1) <= x * (y / x - 1)).
    { apply Rmult_le_compat; try lra.
      assert (Rpower 1 beta <= Rpower (y / x) beta) by (apply Rle_Rpower_l; lra).
      rewrite Rpower_base_1 in *; lra. }
    replace (x * (y / x - 1)) with (y - x) in * by (field; lra); nra.
Qed.

(* The printed scale, alpha = 1/(m-th root of m), is refuted by m = 1/4, beta = 1/2. *)
Theorem theorem_2_scale_fails : exists m beta x, 0 < m /\ 0 < beta < 1 /\ 0 < x /\
  apow (x / Rpower m (- / m)) beta <> m * apow x beta.
Proof.
  exists (/ 4), (/ 2), 1; repeat split; try lra.
  rewrite !apow_pos by (try apply Rdiv_lt_0_compat; try apply Rpower_pos; lra).
  rewrite Rpower_div, Rpower_mult, Rpower_base_1 by (apply Rpower_pos || lra).
  replace (- / / 4 * - / 2) with (INR 2) by (simpl; field).
  rewrite Rpower_pow by lra; simpl; lra.
Qed.
