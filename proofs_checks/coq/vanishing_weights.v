(* SPDX-License-Identifier: Apache-2.0 *)
(* Weights that tend to 0: BAM, Lemmas 3 and 4, and section 2.5 on fading attention.

   The content f may depend on the query and on the key in any way, within [-F, F]. The limit is one
   over queries i: the number n of keys and the query's place are free, so D serves all of them. *)
From Plumbline Require Import base.

(* The weight of key j for query i under the positional score b, and content f. *)
Definition p (n : nat) (f : nat -> R) (b : nat -> nat -> R) (i j : nat) : R :=
  softmax n (fun z => f z + b i z) j.

Definition bounded (n : nat) (F : R) (f : nat -> R) : Prop :=
  forall z, (z < n)%nat -> Rabs (f z) <= F.

(* The rate of Lemma 3. *)
Theorem lemma_3_rate m F n f i j : 0 < m -> bounded n F f -> (i < n)%nat -> (j < n)%nat ->
  p n f (alibi m) i j <= exp (2 * F - m * distance i j).
Proof.
  intros Hm HF Hi Hj; apply Rle_trans with (exp (f j + alibi m i j - (f i + alibi m i i))).
  - apply (softmax_at_most n (fun z => f z + alibi m i z)); assumption.
  - apply exp_le; unfold alibi; rewrite distance_self.
    assert (a := abs_bounds _ _ (HF i Hi)); assert (b := abs_bounds _ _ (HF j Hj)); lra.
Qed.

(* BAM, Lemma 3: if p_ij = softmax(q_i K^T + M_i + A_i), then lim p_ij = 0 as |j - i| -> infinity,
   where the content scores are bounded. The keys may be those up to i, or more. *)
Theorem lemma_3 m F : 0 < m -> forall eps, 0 < eps -> exists D, forall n f i j,
  bounded n F f -> (i < n)%nat -> (j < n)%nat -> D <= distance i j -> p n f (alibi m) i j <= eps.
Proof.
  intros Hm eps He; destruct (exp_falls (2 * F) m eps Hm He) as [D HD].
  exists D; intros; eapply Rle_trans; [apply (lemma_3_rate m F) |apply HD]; assumption.
Qed.

(* The rate of Lemma 4. *)
Theorem lemma_4_rate alpha beta mu F n f i j :
  bounded n F f -> (i < n)%nat -> (j < n)%nat ->
  p n f (ggd alpha beta mu) i j <=
  exp (2 * F + apow (mu / alpha) beta - apow ((INR j - INR i - mu) / alpha) beta).
Proof.
  intros HF Hi Hj.
  apply Rle_trans with (exp (f j + ggd alpha beta mu i j - (f i + ggd alpha beta mu i i))).
  - apply (softmax_at_most n (fun z => f z + ggd alpha beta mu i z)); assumption.
  - apply exp_le; unfold ggd.
    assert (a := abs_bounds _ _ (HF i Hi)); assert (b := abs_bounds _ _ (HF j Hj)).
    replace (apow ((INR i - INR i - mu) / alpha) beta) with (apow (mu / alpha) beta); [lra|].
    replace ((INR i - INR i - mu) / alpha) with (- (mu / alpha)) by (unfold Rdiv; ring).
    now rewrite apow_opp.
Qed.

(* |y|^beta grows without bound for beta > 0. *)
Lemma apow_grows beta K : 0 < beta -> exists Y, 0 < Y /\ forall y, Y <= Rabs y -> K <= apow y beta.
Proof.
  intros Hb; set (K' := Rmax K 1); assert (1 <= K') by apply Rmax_r.
  exists (Rpower K' (/ beta)); split; [apply Rpower_pos|]; intros y Hy.
  assert (ny : y <> 0) by (intros ->; rewrite Rabs_R0 in Hy; pose proof (Rpower_pos K' (/ beta)); lra).
  rewrite apow_nonzero by assumption.
  apply Rle_trans with K'; [apply Rmax_l|].
  replace K' with (Rpower (Rpower K' (/ beta)) beta) at 1.
  - apply Rle_Rpower_l; [lra|]; split; [apply Rpower_pos | assumption].
  - rewrite Rpower_mult, Rinv_l, Rpower_1 by lra; reflexivity.
Qed.

(* BAM, Lemma 4: if p_ij = softmax(q_i K^T + M_i + B_i), b_ij = -|(j - i - mu)/alpha|^beta, then
   lim p_ij = 0 as |j - i| -> infinity, for any beta > 0, alpha > 0 and mu, where the content scores
   are bounded. *)
Theorem lemma_4 alpha beta mu F : 0 < alpha -> 0 < beta -> forall eps, 0 < eps -> exists D,
  forall n f i j, bounded n F f -> (i < n)%nat -> (j < n)%nat -> D <= distance i j ->
    p n f (ggd alpha beta mu) i j <= eps.
Proof.
  intros Ha Hb eps He.
  destruct (apow_grows beta (2 * F + apow (mu / alpha) beta - ln eps) Hb) as [Y [HY H]].
  exists (Y * alpha + Rabs mu); intros n f i j HF Hi Hj HD.
  eapply Rle_trans; [apply (lemma_4_rate alpha beta mu F); assumption|].
  rewrite <- (exp_ln eps He) at 1; apply exp_le.
  enough (Y <= Rabs ((INR j - INR i - mu) / alpha)) by (specialize (H _ H0); lra).
  unfold Rdiv; rewrite Rabs_mult, (Rabs_right (/ alpha)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, Ha).
  apply Rmult_le_reg_r with alpha; [assumption|].
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  unfold distance in HD.
  assert (Rabs (INR j - INR i) - Rabs mu <= Rabs (INR j - INR i - mu)) by apply Rabs_triang_inv.
  lra.
Qed.

(* Section 2.5: without a positional score the peaks of a softmax vanish as the context grows,
   max_j p_j <= e^(2 F)/n, where the content scores are bounded. *)
Theorem fading_peaks_rate n F f j : bounded n F f -> (j < n)%nat ->
  softmax n f j <= exp (2 * F) / INR n.
Proof.
  intros HF Hj; assert (Hn : 0 < INR n) by (apply (lt_INR 0); lia).
  unfold softmax.
  assert (L : INR n * exp (- F) <= sum n (fun z => exp (f z))).
  { rewrite <- sum_const; apply sum_le; intros k Hk; apply exp_le; now destruct (abs_bounds _ _ (HF k Hk)). }
  assert (U : exp (f j) <= exp F) by (apply exp_le; now destruct (abs_bounds _ _ (HF j Hj))).
  assert (e := exp_pos (- F)); assert (e' := exp_pos F).
  apply Rle_trans with (exp F / (INR n * exp (- F))).
  - unfold Rdiv; apply Rmult_le_compat; [left; apply exp_pos| |assumption|].
    + left; apply Rinv_0_lt_compat; nra.
    + apply Rinv_le_contravar; nra.
  - right; replace (2 * F) with (F + F) by ring; rewrite exp_plus, exp_Ropp; field; lra.
Qed.

Theorem fading_peaks F : forall eps, 0 < eps -> exists N, forall n f j,
  bounded n F f -> (j < n)%nat -> N <= INR n -> softmax n f j <= eps.
Proof.
  intros eps He; exists (exp (2 * F) / eps); intros n f j HF Hj HN.
  eapply Rle_trans; [now apply (fading_peaks_rate n F)|].
  assert (Hn : 0 < INR n) by (apply (lt_INR 0); lia).
  apply Rmult_le_reg_r with (INR n / eps); [apply Rdiv_lt_0_compat; assumption|].
  replace (exp (2 * F) / INR n * (INR n / eps)) with (exp (2 * F) / eps) by (field; lra).
  replace (eps * (INR n / eps)) with (INR n) by (field; lra); assumption.
Qed.

(* Without the bound on the content a key keeps half of the mass at every length: its content is
   ln (n - 1), the others' is 0. *)
Theorem fading_peaks_fails_without_bound n : (2 <= n)%nat ->
  softmax n (fun z => if (z =? 0)%nat then ln (INR (n - 1)) else 0) 0 = / 2.
Proof.
  intros Hn; rewrite softmax_inv; f_equal.
  assert (P : 1 <= INR (n - 1)) by (apply (le_INR 1); lia).
  replace n with (1 + (n - 1))%nat at 1 by lia; rewrite sum_split; simpl.
  rewrite Rminus_diag_eq, exp_0 by reflexivity.
  rewrite (sum_ext (n - 1) _ (fun _ => / INR (n - 1))).
  - rewrite sum_const; field; lra.
  - intros k Hk; rewrite Rminus_0_l, exp_Ropp, exp_ln by lra; reflexivity.
Qed.

(* Without the bound on the content neither holds: the farthest key can make up for its bias at
   every length. Its content is m i, the others' is 0. *)
Theorem lemma_3_fails_without_bound m : 0 < m -> exists c, 0 < c /\ forall i,
  exists f, c <= p (S i) f (alibi m) i 0.
Proof.
  intros Hm; assert (q : exp (- m) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  assert (q0 := exp_pos (- m)).
  exists (/ (1 + / (1 - exp (- m)))); split.
  { apply Rinv_0_lt_compat; assert (0 < / (1 - exp (- m))) by (apply Rinv_0_lt_compat; lra); lra. }
  intros i; exists (fun z => if (z =? 0)%nat then m * INR i else 0).
  unfold p; rewrite softmax_inv; apply Rinv_le_contravar.
  { apply sum_pos; [lia | intros; apply exp_pos]. }
  replace (S i) with (1 + i)%nat by lia; rewrite sum_split; simpl.
  replace (m * INR i + alibi m i 0 - (m * INR i + alibi m i 0)) with 0 by ring.
  rewrite exp_0, Rplus_0_l; apply Rplus_le_compat_l.
  apply Rle_trans with (sum i (fun k => exp (- m) ^ (i - 1 - k))).
  - apply sum_le; intros k Hk; unfold alibi.
    rewrite !distance_causal by lia; simpl (INR 0).
    replace (0 + - m * (INR i - INR (S k)) - (m * INR i + - m * (INR i - 0)))
      with (- m * (INR i - INR (S k))) by ring.
    rewrite <- minus_INR by lia.
    replace (i - S k)%nat with (i - 1 - k)%nat by lia.
    rewrite exp_times_nat; lra.
  - assert (G : sum i (fun k => exp (- m) ^ (i - 1 - k)) = sum i (fun k => exp (- m) ^ k)).
    { now rewrite (sum_reverse i (fun k => exp (- m) ^ k)). }
    rewrite G; apply Rmult_le_reg_r with (1 - exp (- m)); [lra|].
    rewrite sum_geometric, Rinv_l by lra.
    assert (0 <= exp (- m) ^ i) by (apply pow_le; lra); lra.
Qed.
