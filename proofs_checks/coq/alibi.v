(* SPDX-License-Identifier: Apache-2.0 *)
(* ALiBi's slopes and distances, as the article on it has them. *)
From Plumbline Require Import base.

Lemma ln_2_pos : 0 < ln 2.
Proof. rewrite <- ln_1; apply ln_increasing; lra. Qed.

(* Technical details: for 8 heads the slopes are 1/2^1, ..., 1/2^8, and get_alibi_slopes,
   1/x^(i+1) with x = (2^8)^(1/8), returns them. *)
Theorem eight_slopes i : (i < 8)%nat ->
  let x := Rpower (2 ^ 8) (1 / 8) in / x ^ (i + 1) = / 2 ^ (i + 1).
Proof.
  intros _ x; replace x with 2; [reflexivity|].
  unfold x; rewrite <- (Rpower_pow 8) by lra; rewrite Rpower_mult.
  replace (INR 8 * (1 / 8)) with 1 by (simpl; field); now rewrite Rpower_1 by lra.
Qed.

(* The official get_slopes for H = 2^a heads: start = 2^(-(2^-(log2 H - 3))), slope k is
   start start^k. *)
Definition official (a k : nat) : R :=
  let start := Rpower 2 (- Rpower 2 (- (INR a - 3))) in start * start ^ k.

Lemma official_power a k : official a k = Rpower 2 (-8 * (INR k + 1) / INR (2 ^ a)).
Proof.
  unfold official; rewrite <- Rpower_pow by apply Rpower_pos; rewrite Rpower_mult, <- Rpower_plus.
  f_equal; replace (Rpower 2 (- (INR a - 3))) with (8 / INR (2 ^ a)).
  - unfold Rdiv; ring.
  - replace (- (INR a - 3)) with (INR 3 + - INR a) by (simpl; ring).
    rewrite Rpower_plus, Rpower_Ropp, !Rpower_pow, pow_INR by lra.
    replace (INR 2) with 2 by (simpl; ring); unfold Rdiv; ring.
Qed.

(* Code example: get_alibi_slopes gives the official slopes, m_k = 2^(-8 (k+1)/H), for a number of
   heads that is a power of two. *)
Theorem code_slopes_official a k : (k < 2 ^ a)%nat ->
  / Rpower (2 ^ 8) (/ INR (2 ^ a)) ^ (k + 1) = official a k /\
  official a k = Rpower 2 (-8 * INR (k + 1) / INR (2 ^ a)).
Proof.
  intros _; rewrite official_power, plus_INR; split; [|reflexivity].
  rewrite <- (Rpower_pow 8) by lra; rewrite Rpower_mult.
  rewrite <- Rpower_pow by apply Rpower_pos; rewrite Rpower_mult, <- Rpower_Ropp, plus_INR.
  f_equal; replace (INR 8) with 8 by (simpl; ring); simpl (INR 1); unfold Rdiv; ring.
Qed.

(* Technical details: the slopes are geometric sequences, m_(h-1) m_(h+1) = m_h^2, for a number of
   heads that is a power of two. *)
Theorem geometric_slopes a h : (h + 2 < 2 ^ a)%nat ->
  official a h * official a (h + 2) = official a (h + 1) ^ 2.
Proof.
  intros _; unfold official; cbv zeta; rewrite !pow_add; ring.
Qed.

(* Code example: bias_ij = m (j - i) is -m |i - j|, for causal attention. *)
Theorem code_bias m i j : (j <= i)%nat -> m * (INR j - INR i) = alibi m i j.
Proof. intros H; unfold alibi; rewrite distance_causal by assumption; ring. Qed.

(* For a key after the query it is the reward m |i - j|. *)
Theorem code_bias_fails_after m i j : 0 < m -> (i < j)%nat -> m * (INR j - INR i) = - alibi m i j.
Proof.
  intros Hm H; apply lt_INR in H; unfold alibi, distance; rewrite Rabs_right by lra; ring.
Qed.

(* Technical details: adding the bias b to q . k before the scale, (q . k + b)/sqrt(d), is the
   formula q . k/sqrt(d) + b for all scores and biases if and only if d = 1. *)
Theorem bias_place d : (1 <= d)%nat ->
  (forall x b, (x + b) / sqrt (INR d) = x / sqrt (INR d) + b) <-> d = 1%nat.
Proof.
  intros Hd; split; [|intros ->; intros; simpl; rewrite sqrt_1; field].
  intros H; specialize (H 0 1).
  assert (P : 0 < sqrt (INR d)) by (apply sqrt_lt_R0, (lt_INR 0); lia).
  apply (Rmult_eq_compat_r (sqrt (INR d))) in H.
  replace ((0 + 1) / sqrt (INR d) * sqrt (INR d)) with 1 in H by (field; lra).
  replace ((0 / sqrt (INR d) + 1) * sqrt (INR d)) with (sqrt (INR d)) in H by (field; lra).
  apply INR_eq; rewrite <- (sqrt_sqrt (INR d)) by apply pos_INR; rewrite <- H; simpl; ring.
Qed.

(* "A distance of 5 is always a distance of 5": b(i + s, j + s) = b(i, j). *)
Theorem translation_invariance m i j s : alibi m (i + s) (j + s) = alibi m i j.
Proof. unfold alibi, distance; rewrite !plus_INR; do 2 f_equal; ring. Qed.

(* "The pattern of preferences is preserved": the ratio of the weights at two distances a and b is
   the same at every position i and for any number n of keys, where the contents at the two distances
   are the same at both positions. *)
Theorem preferences_preserved m a b n n' i i' f f' : (a <= i)%nat -> (b <= i)%nat ->
  (a <= i')%nat -> (b <= i')%nat -> (i < n)%nat -> (i' < n')%nat ->
  f (i - a)%nat = f' (i' - a)%nat -> f (i - b)%nat = f' (i' - b)%nat ->
  let p n i f := softmax n (fun z => f z + alibi m i z) in
  p n i f (i - a)%nat / p n i f (i - b)%nat = p n' i' f' (i' - a)%nat / p n' i' f' (i' - b)%nat.
Proof.
  intros Ha Hb Ha' Hb' Hi Hi' Ea Eb p; unfold p; rewrite !softmax_ratio by lia; f_equal.
  rewrite Ea, Eb; unfold alibi; rewrite !distance_causal, !minus_INR by lia; ring.
Qed.

(* Intuition: "the further apart the words, the less attention", p_ij <= p_i,j+1 for j < i, where the
   content falls by at most m a step towards the query. *)
Theorem further_less_attention m n i j f : 0 < m -> (j < i < n)%nat -> f j - m <= f (S j) ->
  softmax n (fun z => f z + alibi m i z) j <= softmax n (fun z => f z + alibi m i z) (S j).
Proof.
  intros Hm H Hf; rewrite (softmax_ratio_mult n _ j (S j)) by lia.
  assert (P := softmax_pos n (fun z => f z + alibi m i z) (S j) ltac:(lia)).
  assert (exp (f j + alibi m i j - (f (S j) + alibi m i (S j))) <= 1); [|nra].
  rewrite <- exp_0; apply exp_le; unfold alibi; rewrite !distance_causal, S_INR by lia; lra.
Qed.

(* Intuition: with a large slope, 1/2 or more, the ten nearest keys get more than 99 percent of the
   attention at every length, for equal content c; d counts the distance. *)
Theorem steep_head_is_local m n c : 1 / 2 <= m -> (10 <= n)%nat ->
  99 / 100 < sum 10 (softmax n (fun d => c + - m * INR d)).
Proof.
  intros Hm Hn; set (q := exp (- m)).
  assert (q0 : 0 < q) by apply exp_pos.
  assert (q1 : q < 1) by (unfold q; rewrite <- exp_0; apply exp_increasing; lra).
  assert (E : forall k, exp (c + - m * INR k) = exp c * q ^ k)
    by (intros; rewrite exp_plus, exp_times_nat; reflexivity).
  assert (S : forall k, sum k (fun d => exp (c + - m * INR d)) * (1 - q) = exp c * (1 - q ^ k)).
  { intros k; rewrite (sum_ext k _ (fun d => exp c * q ^ d)) by (intros; apply E).
    rewrite sum_scal, Rmult_assoc, sum_geometric; reflexivity. }
  assert (c0 := exp_pos c).
  assert (qn : 0 < q ^ n <= q ^ 10).
  { split; [now apply pow_lt|]; replace n with (10 + (n - 10))%nat by lia; rewrite pow_add.
    assert (0 < q ^ 10) by now apply pow_lt.
    assert (q ^ (n - 10) <= 1) by (rewrite <- (pow1 (n - 10)); apply pow_incr; lra).
    nra. }
  assert (small : q ^ 10 < 1 / 100).
  { unfold q; rewrite <- exp_times_nat; simpl (INR 10).
    apply Rle_lt_trans with (exp (Ropp 5)); [apply exp_le; lra|].
    rewrite exp_Ropp; unfold Rdiv; rewrite Rmult_1_l; apply Rinv_lt_contravar.
    - pose proof (exp_pos 5); lra.
    - replace 5 with (INR 50 * (1 / 10)) by (simpl; field).
      rewrite Rmult_comm; apply Rlt_le_trans with ((11 / 10) ^ 50); [lra|].
      assert (h := exp_ineq1 (1 / 10) ltac:(lra)).
      replace (exp (1 / 10 * INR 50)) with (exp (1 / 10) ^ 50); [apply pow_incr; lra|].
      rewrite <- Rpower_pow by apply exp_pos; unfold Rpower; rewrite ln_exp; f_equal; ring. }
  unfold softmax; rewrite sum_div.
  set (a := sum 10 (fun d => exp (c + - m * INR d))) in *.
  set (b := sum n (fun d => exp (c + - m * INR d))) in *.
  assert (Sa := S 10%nat); assert (Sb := S n); fold a in Sa; fold b in Sb.
  assert (Pb : 0 < b) by (apply sum_exp_pos; lia).
  apply Rmult_lt_reg_r with b; [assumption|]; unfold Rdiv at 2; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply Rmult_lt_reg_r with (1 - q); [lra|]; rewrite Sa, Rmult_assoc, Sb; nra.
Qed.

(* Intuition: with the slope 1/256, for equal content c, a key at a distance d of at most 26 has at
   least nine tenths of the weight of the nearest. *)
Theorem gentle_head_reaches_far n c d : (d <= 26)%nat -> (0 < n)%nat ->
  let p := softmax n (fun z => c + - (1 / 256) * INR z) in 9 / 10 * p 0%nat <= p d.
Proof.
  intros Hd Hn p; unfold p; rewrite (softmax_ratio_mult n _ d 0) by assumption.
  assert (P := softmax_pos n (fun z => c + - (1 / 256) * INR z) 0 Hn).
  apply Rmult_le_compat_r; [lra|].
  apply Rle_trans with (exp (- (13 / 256)) * exp (- (13 / 256))).
  - assert (h := exp_ineq1 (- (13 / 256)) ltac:(lra)); nra.
  - rewrite <- exp_plus; apply exp_le; apply le_INR in Hd; simpl in *; lra.
Qed.

(* CABLE, section 2: "the function rapidly approaches the zero point" is refuted: the size of ALiBi's
   bias grows with every step of the distance. *)
Theorem alibi_approaches_zero_fails r i j : 0 < r -> (j < i)%nat ->
  Rabs (alibi r i (S j)) < Rabs (alibi r i j).
Proof.
  intros Hr H; unfold alibi; rewrite !Rabs_mult; apply Rmult_lt_compat_l.
  - apply Rabs_pos_lt; lra.
  - rewrite !distance_causal, S_INR by lia; assert (INR (S j) <= INR i) by (apply le_INR; lia).
    rewrite S_INR in *; rewrite !Rabs_right; lra.
Qed.

(* CABLE, section 2: a decay of the weights "proportional to the distance" is refuted: for equal
   content c the first step takes more from the weight than the second; d counts the distance. *)
Theorem decay_proportional_fails r n c : 0 < r -> (3 <= n)%nat ->
  let p := softmax n (fun d => c + - r * INR d) in p 1%nat - p 2%nat < p 0%nat - p 1%nat.
Proof.
  intros Hr Hn p; set (q := exp (- r)).
  assert (q1 : q < 1) by (unfold q; rewrite <- exp_0; apply exp_increasing; lra).
  assert (q0 : 0 < q) by apply exp_pos.
  assert (P : 0 < p 0%nat) by (apply softmax_pos; lia).
  assert (E : forall k, p k = q ^ k * p 0%nat).
  { intros k; unfold p; rewrite (softmax_ratio_mult n _ k 0) by lia; f_equal.
    unfold q; rewrite <- exp_times_nat; f_equal; simpl (INR 0); ring. }
  rewrite (E 1%nat), (E 2%nat); simpl.
  assert (0 < (1 - q) * (1 - q)) by nra; nra.
Qed.
