(* SPDX-License-Identifier: Apache-2.0 *)
(* CABLE's equations 2 to 7. *)
From Plumbline Require Import base.

Definition relu (z : R) : R := Rmax 0 z.
Definition softplus (z : R) : R := ln (1 + exp z).
(* The product of two vectors of D components. *)
Definition dot (D : nat) (x w : nat -> R) : R := sum D (fun k => x k * w k).

(* S_i = f_0 + ... + f_i (eqs 3 and 4). *)
Definition prefix (f : nat -> R) (i : nat) : R := sum (S i) f.
(* Eq. 7 with its printed sign: B_ij = g_i (S_i - S_j). *)
Definition printed (f g : nat -> R) (i j : nat) : R := g i * (prefix f i - prefix f j).
(* With the sign of the published code: B_ij = -g_i |S_i - S_j|. *)
Definition published (f g : nat -> R) (i j : nat) : R := - g i * Rabs (prefix f i - prefix f j).

Lemma prefix_difference f i j : (j <= i)%nat -> prefix f i - prefix f j = sum_from (S j) (S i) f.
Proof. intros H; unfold prefix; rewrite (sum_cut (S j) (S i)) by lia; ring. Qed.

Lemma prefix_grows f i j : (forall k, 0 <= f k) -> (j <= i)%nat -> prefix f j <= prefix f i.
Proof.
  intros Hf H; assert (0 <= prefix f i - prefix f j); [|lra].
  rewrite prefix_difference by assumption; apply sum_nonneg; intros; apply Hf.
Qed.

Lemma prefix_S f j : prefix f (S j) = prefix f j + f (S j).
Proof. reflexivity. Qed.

Lemma published_causal f g i j : (forall k, 0 <= f k) -> (j <= i)%nat ->
  published f g i j = - printed f g i j.
Proof.
  intros Hf H; unfold published, printed; assert (h := prefix_grows f i j Hf H).
  rewrite Rabs_right; lra.
Qed.

Lemma relu_nonneg z : 0 <= relu z.
Proof. apply Rmax_l. Qed.

Lemma relu_scales c z : 0 <= c -> relu (c * z) = c * relu z.
Proof. intros; unfold relu; rewrite <- RmaxRmult, Rmult_0_r by assumption; reflexivity. Qed.

Lemma softplus_pos z : 0 < softplus z.
Proof. unfold softplus; rewrite <- ln_1; apply ln_increasing; pose proof (exp_pos z); lra. Qed.

Lemma softplus_inverse w : 0 < w -> softplus (ln (exp w - 1)) = w.
Proof.
  intros H; unfold softplus; rewrite exp_ln.
  - replace (1 + (exp w - 1)) with (exp w) by ring; apply ln_exp.
  - assert (h := exp_increasing 0 w H); rewrite exp_0 in h; lra.
Qed.

(* Section 3, eqs 2-7, "penalises distant keys", is refuted: with f >= 0 and g >= 0 the printed bias
   rewards a key, and the farther key more. *)
Theorem penalises_distance_fails f g i j : (forall k, 0 <= f k) -> 0 <= g i -> (S j <= i)%nat ->
  0 <= printed f g i j /\ printed f g i (S j) <= printed f g i j.
Proof.
  intros Hf Hg H; unfold printed.
  assert (a := prefix_grows f i (S j) Hf H); assert (b := prefix_S f j); assert (c := Hf (S j)).
  split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_l; lra].
Qed.

(* With the published sign distance is never rewarded. *)
Theorem penalises_distance_corrected f g i j : (forall k, 0 <= f k) -> 0 <= g i -> (S j <= i)%nat ->
  published f g i j <= 0 /\ published f g i j <= published f g i (S j).
Proof.
  intros Hf Hg H; rewrite !published_causal by (assumption || lia).
  destruct (penalises_distance_fails f g i j Hf Hg H); lra.
Qed.

(* Section 3, after eq. 7: with the published sign the penalty increases with every step of distance,
   B_ij < B_i,j+1 for j < i, where every increment is above 0; g = softplus(x w_s). *)
Theorem penalties_increase f z i j : (forall k, 0 < f k) -> (j < i)%nat ->
  published f (fun k => softplus (z k)) i j < published f (fun k => softplus (z k)) i (S j).
Proof.
  intros Hf H; assert (Hf' : forall k, 0 <= f k) by (intros; left; apply Hf).
  rewrite !published_causal by (assumption || lia); unfold printed.
  assert (a := softplus_pos (z i)); assert (b := prefix_S f j); assert (c := Hf (S j)); nra.
Qed.

(* Eqs 3 and 4: with L the lower triangular matrix of ones over t tokens and f = ReLU(x w_c),
   S = L f is the cumulative sum of f; S_i >= 0, and S does not decrease. *)
Theorem cumulative_sum t z i : (i < t)%nat ->
  let f k := relu (z k) in
  let L i j := if (j <=? i)%nat then 1 else 0 in
  sum t (fun j => L i j * f j) = prefix f i /\ 0 <= prefix f i /\ prefix f i <= prefix f (S i).
Proof.
  intros Hi f L; assert (Hf : forall k, 0 <= f k) by (intros; apply relu_nonneg).
  split; [|split].
  - rewrite (sum_cut (S i) t) by lia; unfold sum_from, prefix.
    rewrite (sum_ext (t - S i) _ (fun _ => 0)), sum_const, Rmult_0_r, Rplus_0_r.
    + apply sum_ext; intros k Hk; unfold L; destruct (Nat.leb_spec k i); [ring | lia].
    + intros k _; unfold L; destruct (Nat.leb_spec (S i + k) i); [lia | ring].
  - apply sum_nonneg; intros; apply Hf.
  - apply prefix_grows; [assumption | lia].
Qed.

(* After eq. 2: ReLU ensures that the increments are not negative; above 0 they are for z > 0 only. *)
Theorem relu_positive z : 0 <= relu z /\ (0 < relu z <-> 0 < z).
Proof.
  split; [apply relu_nonneg|]; unfold relu, Rmax; destruct (Rle_dec 0 z); lra.
Qed.

(* Before eq. 6: the weight g = Softplus(x w_s) is above 0, and can dampen (g < 1) and amplify
   (g > 1): it takes every positive value. *)
Theorem softplus_modulates : (forall z, 0 < softplus z) /\
  (forall w, 0 < w -> exists z, softplus z = w) /\
  (exists z, softplus z < 1) /\ (exists z, 1 < softplus z).
Proof.
  assert (E : forall w, 0 < w -> exists z, softplus z = w)
    by (intros w H; exists (ln (exp w - 1)); now apply softplus_inverse).
  split; [apply softplus_pos|]; split; [exact E|].
  destruct (E (1 / 2) ltac:(lra)) as [z Hz], (E 2 ltac:(lra)) as [z' Hz'].
  split; [exists z | exists z']; lra.
Qed.

(* Before eq. 6: every bias of CABLE_NW (weights 1) is a bias of CABLE for some parameters of eqs 2
   and 6, which serve every input X of tokens with D components. *)
Theorem flexibility D w_c : exists w_c' w_s, forall (X : nat -> nat -> R) i j,
  printed (fun k => relu (dot D (X k) w_c')) (fun k => softplus (dot D (X k) w_s)) i j =
  printed (fun k => relu (dot D (X k) w_c)) (fun _ => 1) i j.
Proof.
  assert (l2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
  exists (fun k => / ln 2 * w_c k), (fun _ => 0); intros X i j; unfold printed.
  assert (Z : softplus (dot D (X i) (fun _ => 0)) = ln 2).
  { unfold dot; rewrite (sum_ext D _ (fun _ => 0)), sum_const, Rmult_0_r by (intros; ring).
    unfold softplus; rewrite exp_0; f_equal; ring. }
  assert (P : forall k, prefix (fun k => relu (dot D (X k) (fun k => / ln 2 * w_c k))) k =
                        / ln 2 * prefix (fun k => relu (dot D (X k) w_c)) k).
  { intros k; unfold prefix; rewrite <- sum_scal; apply sum_ext; intros z _.
    rewrite <- relu_scales by (left; now apply Rinv_0_lt_compat); f_equal.
    unfold dot; rewrite <- sum_scal; apply sum_ext; intros; ring. }
  rewrite Z, !P; field; lra.
Qed.

(* Section 5.2: with S_0, ..., S_(n-1) kept, the row of the new token n is
   B_nj = -g_n (S_(n-1) + f_n - S_j); the increments f of the earlier tokens do not change. *)
Theorem prefix_sum_cache f f' g n j : (1 <= n)%nat -> (j < n)%nat -> (forall k, (k < n)%nat -> f' k = f k) ->
  - printed f' g n j = - g n * (prefix f (n - 1) + f' n - prefix f j).
Proof.
  intros Hn Hj E; unfold printed.
  assert (P : forall k, (k < n)%nat -> prefix f' k = prefix f k)
    by (intros k Hk; apply sum_ext; intros; apply E; lia).
  replace (prefix f' n) with (prefix f' (n - 1) + f' n).
  - rewrite !P by lia; ring.
  - replace n with (S (n - 1)) at 2 3 by lia; now rewrite prefix_S.
Qed.

(* Section 3, after eq. 7, "sliding window": for equal content c, increments of at least a > 0 and
   weights of at least b > 0, the attention of query i to the keys at a distance of W or more is at
   most e^(-b a W) / (1 - e^(-b a)), at every length. *)
Theorem sliding_window_rate f g a b c W i : 0 < a -> 0 < b -> (forall k, a <= f k) ->
  (forall k, b <= g k) ->
  sum (S i - W) (softmax (S i) (fun j => c + published f g i j)) <=
  exp (- (b * a) * INR W) / (1 - exp (- (b * a))).
Proof.
  intros Ha Hb Hf Hg; set (q := exp (- (b * a))).
  assert (Hf' : forall k, 0 <= f k) by (intros; specialize (Hf k); lra).
  assert (q1 : q < 1) by (unfold q; rewrite <- exp_0; apply exp_increasing; nra).
  assert (q0 : 0 < q) by apply exp_pos.
  unfold Rdiv; rewrite (exp_times_nat (b * a) W); fold q.
  destruct (Nat.le_gt_cases (S i) W) as [h|h].
  { replace (S i - W)%nat with 0%nat by lia; simpl; apply Rmult_le_pos.
    - left; now apply pow_lt.
    - left; apply Rinv_0_lt_compat; lra. }
  apply Rle_trans with (sum (S i - W) (fun k => q ^ W * q ^ k)).
  - rewrite sum_reverse; apply sum_le; intros k Hk.
    set (j := (S i - W - 1 - k)%nat).
    eapply Rle_trans; [apply (softmax_at_most (S i) _ j i); lia|].
    rewrite <- pow_add; unfold q; rewrite <- exp_times_nat; apply exp_le.
    unfold published; rewrite (Rminus_diag_eq (prefix f i) (prefix f i)), Rabs_R0 by reflexivity.
    assert (m := prefix_grows f i j Hf' ltac:(unfold j; lia)); rewrite Rabs_right by lra.
    assert (D : INR (W + k) * a <= prefix f i - prefix f j).
    { rewrite prefix_difference by (unfold j; lia); unfold sum_from.
      replace (S i - S j)%nat with (W + k)%nat by (unfold j; lia).
      rewrite <- sum_const; apply sum_le; intros; apply Hf. }
    assert (N := pos_INR (W + k)); specialize (Hg i).
    assert (b * (INR (W + k) * a) <= g i * (prefix f i - prefix f j)) by (apply Rmult_le_compat; nra).
    lra.
  - rewrite sum_scal; apply Rmult_le_compat_l; [left; now apply pow_lt|].
    apply Rmult_le_reg_r with (1 - q); [lra|]; rewrite sum_geometric, Rinv_l by lra.
    assert (0 < q ^ (S i - W)) by now apply pow_lt. lra.
Qed.

Theorem sliding_window a b : 0 < a -> 0 < b -> forall eps, 0 < eps -> exists w, forall W f g c i,
  w <= INR W -> (forall k, a <= f k) -> (forall k, b <= g k) ->
  sum (S i - W) (softmax (S i) (fun j => c + published f g i j)) <= eps.
Proof.
  intros Ha Hb eps He.
  assert (q1 : exp (- (b * a)) < 1) by (rewrite <- exp_0; apply exp_increasing; nra).
  destruct (exp_falls 0 (b * a) (eps * (1 - exp (- (b * a)))) ltac:(nra) ltac:(nra)) as [w Hw].
  exists w; intros W f g c i HW Hf Hg.
  eapply Rle_trans; [apply (sliding_window_rate f g a b c W i); assumption|].
  apply Rmult_le_reg_r with (1 - exp (- (b * a))); [lra|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  replace (- (b * a) * INR W) with (0 - b * a * INR W) by ring; now apply Hw.
Qed.

(* Section 5.4, "anchors may receive weaker biases", is refuted: with the published sign a key is
   never penalised less than a later one, and its own increment is not in its bias. *)
Theorem anchors_fails f g i j : (forall k, 0 <= f k) -> 0 <= g i -> (S j <= i)%nat ->
  published f g i j <= published f g i (S j).
Proof. intros; now apply penalises_distance_corrected. Qed.

(* Section 5.5 is refuted: with keys on both sides eq. 7 rewards one of them, with either sign. *)
Theorem bidirectional_fails : exists f g i j j', (forall k, 0 <= f k) /\ (forall k, 0 <= g k) /\
  (j < i < j')%nat /\ 0 < printed f g i j /\ 0 < - printed f g i j'.
Proof.
  exists (fun _ => 1), (fun _ => 1), 1%nat, 0%nat, 2%nat; unfold printed, prefix; simpl.
  repeat split; try lia; intros; lra.
Qed.

(* Section 2, after eq. 1, is refuted: no function b of the two positions gives CABLE's bias. *)
Theorem relative_function_of_positions_fails :
  ~ exists b : nat -> nat -> R, forall f g i j, (forall k, 0 <= f k) -> published f g i j = b i j.
Proof.
  intros [b H].
  assert (h := H (fun _ => 0) (fun _ => 1) 1%nat 0%nat ltac:(intros; lra)).
  rewrite <- (H (fun _ => 1) (fun _ => 1) 1%nat 0%nat ltac:(intros; lra)) in h.
  rewrite !published_causal in h by (lia || (intros; lra)); unfold printed, prefix in h; simpl in h; lra.
Qed.
