(* SPDX-License-Identifier: Apache-2.0 *)
(* BAM, Theorems 3 and 4 and sections 2.5 and 3.2: beta < 0, mu = 0. *)
From Plumbline Require Import base posterior causal_mask.

(* b = -|x/alpha|^beta at the distance x > 0. *)
Definition bias (alpha beta x : R) : R := - Rpower (x / alpha) beta.

(* The bias of key z for query i, where the own key stands at x instead of at 0. *)
Definition bias_own_at (x alpha beta : R) (i z : nat) : R :=
  if (z =? i)%nat then bias alpha beta x else bias alpha beta (distance i z).

Lemma bias_off alpha beta x : 0 < alpha -> 0 < x -> bias alpha beta x = - (Rpower alpha (- beta) * Rpower x beta).
Proof. intros; unfold bias; now rewrite Rpower_div. Qed.

Lemma bias_1 alpha beta : 0 < alpha -> bias alpha beta 1 = - Rpower alpha (- beta).
Proof. intros; rewrite bias_off, Rpower_base_1 by lra; ring. Qed.

Lemma bias_rises alpha beta x y : 0 < alpha -> beta < 0 -> 0 < x <= y -> bias alpha beta x <= bias alpha beta y.
Proof.
  intros Ha Hb H; unfold bias; apply Ropp_le_contravar, Rpower_anti_le; [|lra].
  split; [apply Rdiv_lt_0_compat; lra|].
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat|]; lra.
Qed.

(* The rate of Theorem 3: p_ii <= e^(2 F + alpha^|beta| - (alpha/x)^|beta|). *)
Theorem theorem_3_rate alpha beta F x n f i : 0 < alpha -> beta < 0 -> 0 < x ->
  (forall z, (z < n)%nat -> Rabs (f z) <= F) -> (i < n)%nat -> (2 <= n)%nat ->
  softmax n (fun z => f z + bias_own_at x alpha beta i z) i <=
  exp (2 * F + Rpower alpha (- beta) - Rpower (x / alpha) beta).
Proof.
  intros Ha Hb Hx HF Hi Hn.
  set (k := if (i =? 0)%nat then 1%nat else 0%nat).
  assert (Hk : (k < n)%nat /\ k <> i).
  { unfold k; destruct (Nat.eqb_spec i 0); lia. }
  destruct Hk as [Hk ne].
  eapply Rle_trans; [apply (softmax_at_most n _ i k Hk)|]; apply exp_le.
  assert (a := abs_bounds _ _ (HF i Hi)); assert (b := abs_bounds _ _ (HF k Hk)).
  unfold bias_own_at; rewrite Nat.eqb_refl.
  destruct (Nat.eqb_spec k i); [contradiction|].
  assert (h := bias_rises alpha beta 1 (distance i k) Ha Hb).
  specialize (h ltac:(split; [lra | apply distance_ge_1; auto])).
  rewrite bias_1 in h by assumption; unfold bias at 1; lra.
Qed.

(* (x/alpha)^beta grows without bound as x -> 0 from above. *)
Lemma bias_falls_at_0 alpha beta K : 0 < alpha -> beta < 0 ->
  exists delta, 0 < delta /\ forall x, 0 < x < delta -> K <= Rpower (x / alpha) beta.
Proof.
  intros Ha Hb; set (K' := Rmax K 1); assert (1 <= K') by apply Rmax_r.
  exists (alpha * Rpower K' (/ beta)); split.
  { apply Rmult_lt_0_compat; [assumption | apply Rpower_pos]. }
  intros x [Hx H']; apply Rle_trans with K'; [apply Rmax_l|].
  rewrite <- (Rpower_root K' beta) at 1 by lra.
  apply Rpower_anti_le; [|lra]; split; [apply Rdiv_lt_0_compat; lra|].
  left; apply Rmult_lt_reg_r with alpha; [assumption|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(* BAM, Theorem 3: for all beta < 0 and alpha > 0, if p_ij = softmax(q_i K^T + M_i + B_i), then
   lim p_ij = 0 as |j - i| -> 0, that is p_ii -> 0 as the own key's |x/alpha| -> 0, where the query
   sees at least one other key and the contents, which do not depend on x, are bounded. *)
Theorem theorem_3 alpha beta F : 0 < alpha -> beta < 0 ->
  forall eps, 0 < eps -> exists delta, 0 < delta /\ forall x n f i, 0 < x < delta ->
    (forall z, (z < n)%nat -> Rabs (f z) <= F) -> (i < n)%nat -> (2 <= n)%nat ->
    softmax n (fun z => f z + bias_own_at x alpha beta i z) i <= eps.
Proof.
  intros Ha Hb eps He.
  destruct (bias_falls_at_0 alpha beta (2 * F + Rpower alpha (- beta) - ln eps) Ha Hb)
    as [delta [Hd H]].
  exists delta; split; [assumption|]; intros x n f i Hx HF Hi Hn.
  eapply Rle_trans; [apply (theorem_3_rate alpha beta F); tauto|].
  rewrite <- (exp_ln eps He) at 1; apply exp_le; specialize (H x Hx); lra.
Qed.

(* The first token, which sees itself only, keeps the weight 1 at every x. *)
Theorem theorem_3_fails_alone alpha beta x f :
  softmax 1 (fun z => f z + bias_own_at x alpha beta 0 z) 0 = 1.
Proof. apply Rmult_eq_reg_l with 1; [|lra]; rewrite softmax_inv; simpl; rewrite Rminus_diag_eq, exp_0 by reflexivity; field. Qed.

(* The bias of appendix C: -e^theta_alpha (|j - i| + epsilon)^theta_beta, theta_mu = 0. *)
Definition implemented (theta_alpha theta_beta epsilon : R) (i j : nat) : R :=
  - exp theta_alpha * Rpower (distance i j + epsilon) theta_beta.

Lemma ln_le_iff x y : 0 < x -> 0 < y -> (ln x <= ln y <-> x <= y).
Proof.
  intros Hx Hy; split; intros H; [|now apply ln_le].
  rewrite <- (exp_ln x), <- (exp_ln y) by assumption; now apply exp_le.
Qed.

(* Theorem 3 with the implemented bias, read as: with equal contents the own key gets at most a
   hundredth of its neighbour's weight. It does where, and only where,
   e^theta_alpha (epsilon^theta_beta - (1 + epsilon)^theta_beta) >= ln 100. *)
Theorem theorem_3_epsilon theta_alpha theta_beta epsilon n i c :
  0 < epsilon -> (1 <= i < n)%nat ->
  let p := softmax n (fun z => c + implemented theta_alpha theta_beta epsilon i z) in
  (p i <= p (i - 1)%nat / 100 <->
   ln 100 <= exp theta_alpha * (Rpower epsilon theta_beta - Rpower (1 + epsilon) theta_beta)).
Proof.
  intros He Hi p.
  assert (P : 0 < p (i - 1)%nat) by (apply softmax_pos; lia).
  assert (E : p i = exp (- (exp theta_alpha * (Rpower epsilon theta_beta - Rpower (1 + epsilon) theta_beta)))
                    * p (i - 1)%nat).
  { unfold p; rewrite (softmax_ratio_mult n _ i (i - 1)) by lia; do 2 f_equal.
    unfold implemented; rewrite distance_self, Rplus_0_l.
    rewrite distance_causal, minus_INR by lia; simpl.
    replace (INR i - (INR i - 1)) with 1 by ring; ring. }
  rewrite E, exp_Ropp.
  set (y := exp theta_alpha * (Rpower epsilon theta_beta - Rpower (1 + epsilon) theta_beta)).
  assert (Q := exp_pos y).
  rewrite <- (ln_exp y) at 2; rewrite ln_le_iff by lra.
  assert (I : exp y * / exp y = 1) by (apply Rinv_r; lra).
  assert (I' : 0 < / exp y) by now apply Rinv_0_lt_compat.
  set (x := exp y) in *; set (x' := / x) in *; set (w := p (i - 1)%nat) in *.
  clearbody x' w.
  split; intros H.
  - apply (Rmult_le_reg_r (w * x' / 100)); [repeat apply Rmult_lt_0_compat; lra|].
    replace (x * (w * x' / 100)) with (w / 100 * (x * x')) by field; rewrite I; lra.
  - apply (Rmult_le_compat_r (w * x' / 100)) in H; [|repeat apply Rmult_le_pos; lra].
    replace (x * (w * x' / 100)) with (w / 100 * (x * x')) in H by field; rewrite I in H; lra.
Qed.

(* Section 2.5, "zero in the vicinity of the query", read as: with equal contents the neighbour's
   weight is below a tenth of that of the key at distance D, whatever the own key's bias is. It is where, and only where,
   alpha^|beta| (1 - D^-|beta|) > ln 10. *)
Theorem theorem_3_neighbours alpha beta D n i c own : 0 < alpha -> (1 <= D <= i)%nat -> (i < n)%nat ->
  let q := softmax n (fun z => if (z =? i)%nat then own else c + bias alpha beta (distance i z)) in
  (q (i - 1)%nat < q (i - D)%nat / 10 <->
   ln 10 < Rpower alpha (- beta) * (1 - Rpower (INR D) beta)).
Proof.
  intros Ha HD Hi q.
  assert (HDR : 1 <= INR D) by (apply (le_INR 1); lia).
  assert (P : 0 < q (i - D)%nat) by (apply softmax_pos; lia).
  set (y := Rpower alpha (- beta) * (1 - Rpower (INR D) beta)).
  assert (E : q (i - 1)%nat = exp (- y) * q (i - D)%nat).
  { unfold q; rewrite (softmax_ratio_mult n _ (i - 1) (i - D)) by lia; do 2 f_equal.
    destruct (Nat.eqb_spec (i - 1) i), (Nat.eqb_spec (i - D) i); try lia.
    rewrite !distance_causal, !minus_INR by lia; simpl (INR 1).
    replace (INR i - (INR i - 1)) with 1 by ring.
    replace (INR i - (INR i - INR D)) with (INR D) by ring.
    rewrite bias_1, bias_off by lra; unfold y; ring. }
  rewrite E, exp_Ropp; assert (Q := exp_pos y).
  assert (I : exp y * / exp y = 1) by (apply Rinv_r; lra).
  assert (I' : 0 < / exp y) by now apply Rinv_0_lt_compat.
  set (x' := / exp y) in *; set (w := q (i - D)%nat) in *; clearbody x' w.
  split; intros H.
  - rewrite <- (ln_exp y); apply ln_increasing; [lra|].
    apply (Rmult_lt_reg_r (w * x' / 10)); [repeat apply Rmult_lt_0_compat; lra|].
    replace (exp y * (w * x' / 10)) with (w / 10 * (exp y * x')) by field; rewrite I; lra.
  - rewrite <- (ln_exp y) in H; apply ln_lt_inv in H; [|lra|lra].
    apply (Rmult_lt_compat_r (w * x' / 10)) in H; [|repeat apply Rmult_lt_0_compat; lra].
    replace (exp y * (w * x' / 10)) with (w / 10 * (exp y * x')) in H by field; rewrite I in H; lra.
Qed.

(* Section 3.2: for beta < 0 the prior suppresses weights near the query, b_i,i-D > b_i,i-1 for
   D >= 2. *)
Theorem beta_nonpositive alpha beta D : 0 < alpha -> beta < 0 -> (2 <= D)%nat ->
  bias alpha beta 1 < bias alpha beta (INR D).
Proof.
  intros Ha Hb HD; apply (le_INR 2) in HD; simpl in HD.
  unfold bias; apply Ropp_lt_contravar, Rpower_anti; [|assumption].
  split; [apply Rdiv_lt_0_compat; lra|].
  apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat|]; lra.
Qed.

(* At beta = 0, which the sentence includes, they are equal. *)
Theorem beta_nonpositive_fails_at_0 alpha D : 0 < alpha -> (1 <= D)%nat ->
  bias alpha 0 1 = bias alpha 0 (INR D).
Proof.
  intros Ha HD; apply (le_INR 1) in HD; simpl in HD; unfold bias.
  rewrite !Rpower_O by (apply Rdiv_lt_0_compat; lra); reflexivity.
Qed.

(* Section 2.5: with beta < 0 the prior is concentrated at the far end, read as: the farther half of
   the distances 1, ..., D holds at least three quarters of the prior, where
   (2 alpha/D)^|beta| - (4 alpha/(3 D))^|beta| >= ln 6. *)
Theorem negative_beta_far_end alpha beta D : 0 < alpha -> beta < 0 -> (1 <= D)%nat ->
  ln 6 <= Rpower (2 * alpha / INR D) (- beta) - Rpower (4 * alpha / (3 * INR D)) (- beta) ->
  3 / 4 * sum D (fun k => exp (bias alpha beta (INR (k + 1)))) <=
  sum_from (D / 2) D (fun k => exp (bias alpha beta (INR (k + 1)))).
Proof.
  intros Ha Hb HD Hc.
  assert (PD : 0 < INR D) by (apply (lt_INR 0); lia).
  set (w k := exp (bias alpha beta (INR (k + 1)))).
  set (h := exp (bias alpha beta (INR D / 2))).
  assert (ph : 0 < h) by apply exp_pos.
  assert (pw : forall k, 0 < w k) by (intros; apply exp_pos).
  assert (inv : forall c x, 0 < c -> 0 < x -> Rpower (c * alpha / x) (- beta) = - bias alpha beta (x / c)).
  { intros c x Pc Px; unfold bias; rewrite Ropp_involutive; unfold Rpower; f_equal.
    replace (c * alpha / x) with (/ (x / c / alpha)) by (field; lra).
    rewrite ln_Rinv by (repeat apply Rdiv_lt_0_compat; assumption); ring. }
  assert (far : forall k, (3 * D <= 4 * (k + 1))%nat -> 6 * h <= w k).
  { intros k Hk; apply Rle_trans with (exp (bias alpha beta (INR D * 3 / 4))).
    - unfold h; rewrite <- (exp_ln 6) by lra; rewrite <- exp_plus; apply exp_le.
      rewrite inv in Hc by lra.
      replace (4 * alpha / (3 * INR D)) with (4 / 3 * alpha / INR D) in Hc by (field; lra).
      rewrite inv in Hc by lra.
      replace (INR D / (4 / 3)) with (INR D * 3 / 4) in Hc by field; lra.
    - apply exp_le, bias_rises; try assumption.
      apply le_INR in Hk; rewrite !mult_INR in Hk; simpl in Hk; lra. }
  assert (near : sum (D / 2) w <= INR D / 2 * h).
  { apply Rle_trans with (INR (D / 2) * h).
    - rewrite <- sum_const; apply sum_le; intros k Hk; apply exp_le, bias_rises; try assumption.
      assert (2 * (k + 1) <= D)%nat as e by (pose proof (Nat.mul_div_le D 2); lia).
      split; [apply (lt_INR 0); lia|].
      apply le_INR in e; rewrite mult_INR in e; simpl in e; lra.
    - apply Rmult_le_compat_r; [lra|].
      assert (2 * (D / 2) <= D)%nat as e by (apply Nat.mul_div_le; lia).
      apply le_INR in e; rewrite mult_INR in e; replace (INR 2) with 2 in e by (simpl; ring); lra. }
  assert (Hhalf : (D / 2 <= D)%nat) by (apply Nat.div_le_upper_bound; lia).
  assert (far_sum : INR D / 4 * (6 * h) <= sum_from (D / 2) D w).
  { set (q := ((D + 3) / 4)%nat).
    assert (Hq : (4 * q <= D + 3)%nat /\ (D <= 4 * q)%nat).
    { unfold q; pose proof (Nat.mul_div_le (D + 3) 4); pose proof (Nat.mul_succ_div_gt (D + 3) 4); lia. }
    assert (Hh : (2 * (D / 2) <= D)%nat) by (apply Nat.mul_div_le; lia).
    unfold sum_from; replace (D - D / 2)%nat with ((D - D / 2 - q) + q)%nat by lia.
    rewrite sum_split.
    assert (0 <= sum (D - D / 2 - q) (fun k => w (D / 2 + k)%nat)) by (apply sum_nonneg; intros; left; apply pw).
    enough (INR D / 4 * (6 * h) <= sum q (fun k => w (D / 2 + (D - D / 2 - q + k))%nat)) by lra.
    apply Rle_trans with (INR q * (6 * h)).
    - apply Rmult_le_compat_r; [lra|]; destruct Hq as [_ e].
      apply le_INR in e; rewrite mult_INR in e; replace (INR 4) with 4 in e by (simpl; ring); lra.
    - rewrite <- sum_const; apply sum_le; intros k Hk; apply far; lia. }
  rewrite (sum_cut (D / 2) D) by assumption; fold w; nra.
Qed.

(* Section 2.5: beta < 0 is no parametrisation of a distribution: e^(-|d/alpha|^beta), summed over
   the distances 1, ..., N, has no bound. *)
Theorem negative_beta_not_gaussian alpha beta : 0 < alpha -> beta < 0 ->
  forall K, exists N, K <= sum N (fun k => exp (bias alpha beta (INR (k + 1)))).
Proof.
  intros Ha Hb K; set (c := exp (bias alpha beta 1)); assert (P : 0 < c) by apply exp_pos.
  destruct (nat_above (K / c)) as [N HN]; exists N.
  apply Rle_trans with (INR N * c).
  - apply (Rmult_le_compat_r c) in HN; [|lra].
    unfold Rdiv in HN; rewrite Rmult_assoc, Rinv_l in HN; lra.
  - rewrite <- sum_const; apply sum_le; intros k Hk; apply exp_le, bias_rises; try assumption.
    split; [lra | apply (le_INR 1); lia].
Qed.

(* BAM, Theorem 4 is refuted: for every beta < 0 and alpha > 0, and bounded contents, the weight does
   tend to 0 as |j - i| -> infinity. The query at index i sees the keys 0, ..., i, and its own bias is
   minus infinity. *)
Definition row (alpha beta : R) (f : nat -> R) (i z : nat) : score :=
  plus (f z) (if (z =? i)%nat then None else Some (bias alpha beta (distance i z))).

Theorem theorem_4_fails alpha beta F : 0 < alpha -> beta < 0 -> forall eps, 0 < eps -> exists D,
  forall f i j, (j < i)%nat -> (forall z, (z <= i)%nat -> Rabs (f z) <= F) -> D <= distance i j ->
    masked_softmax (S i) (row alpha beta f i) j <= eps.
Proof.
  intros Ha Hb eps He; set (C := exp (2 * F + Rpower alpha (- beta))).
  assert (PC : 0 < C) by apply exp_pos.
  exists (C / eps); intros f i j Hj HF HD.
  assert (Pi : 0 < INR i) by (apply (lt_INR 0); lia).
  assert (HDi : C / eps <= INR i).
  { rewrite distance_causal in HD by lia; pose proof (pos_INR j); lra. }
  assert (num : weight (row alpha beta f i j) <= exp F).
  { unfold row; destruct (Nat.eqb_spec j i); [lia|]; simpl; apply exp_le.
    assert (a := abs_bounds _ _ (HF j ltac:(lia))).
    unfold bias; pose proof (Rpower_pos (distance i j / alpha) beta); lra. }
  assert (den : INR i * exp (- F - Rpower alpha (- beta)) <= sum (S i) (fun z => weight (row alpha beta f i z))).
  { simpl; unfold row at 2; rewrite Nat.eqb_refl; simpl; rewrite Rplus_0_r.
    rewrite <- sum_const; apply sum_le; intros k Hk.
    unfold row; destruct (Nat.eqb_spec k i); [lia|]; simpl; apply exp_le.
    assert (a := abs_bounds _ _ (HF k ltac:(lia))).
    assert (b := bias_rises alpha beta 1 (distance i k) Ha Hb).
    rewrite bias_1 in b by assumption; specialize (b ltac:(split; [lra|apply distance_ge_1; lia])); lra. }
  unfold masked_softmax.
  assert (e1 := exp_pos (- F - Rpower alpha (- beta))); assert (e2 := exp_pos F).
  assert (low : 0 < INR i * exp (- F - Rpower alpha (- beta))) by (apply Rmult_lt_0_compat; assumption).
  apply Rle_trans with (exp F / (INR i * exp (- F - Rpower alpha (- beta)))).
  - unfold Rdiv; apply Rmult_le_compat; try assumption.
    + unfold row; destruct (Nat.eqb_spec j i); simpl; [lra | left; apply exp_pos].
    + left; apply Rinv_0_lt_compat; lra.
    + apply Rinv_le_contravar; assumption.
  - replace (exp F / (INR i * exp (- F - Rpower alpha (- beta)))) with (C / INR i).
    + apply Rmult_le_reg_r with (INR i / eps); [apply Rdiv_lt_0_compat; assumption|].
      replace (C / INR i * (INR i / eps)) with (C / eps) by (field; lra).
      replace (eps * (INR i / eps)) with (INR i) by (field; lra); assumption.
    + unfold C; replace (2 * F + Rpower alpha (- beta)) with (F - (- F - Rpower alpha (- beta))) by ring.
      unfold Rminus at 1; rewrite exp_plus, exp_Ropp; field; lra.
Qed.

(* Appendices B.6 and B.7: inverting the quotient keeps the exponent; refuted, as it turns its
   sign. *)
Theorem inversion_exponent_fails : Rpower (2 / 1) (-1) <> Rpower (1 / 2) (-1).
Proof.
  assert (h := Rpower_anti (1 / 2) (2 / 1) (-1) ltac:(lra) ltac:(lra)); lra.
Qed.

Theorem inversion_exponent_corrected x alpha beta : 0 < x -> 0 < alpha ->
  Rpower (x / alpha) beta = Rpower (alpha / x) (- beta).
Proof.
  intros Hx Ha; unfold Rpower; f_equal.
  replace (alpha / x) with (/ (x / alpha)) by (field; lra).
  rewrite ln_Rinv by (apply Rdiv_lt_0_compat; assumption); ring.
Qed.
