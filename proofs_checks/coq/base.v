(* SPDX-License-Identifier: Apache-2.0 *)
(* Finite sums, the softmax, powers of a size: what every theorem is stated with.

   A row has n keys 0, ..., n - 1, and its scores are a function on them. Sums over them, not over
   lists or sets: the statements then read like the papers'. *)
Require Export Reals Lra Lia Psatz Arith.
Open Scope R_scope.

(* f 0 + ... + f (n - 1). *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => sum k f + f k end.

(* softmax(s)_j over n keys. *)
Definition softmax (n : nat) (s : nat -> R) (j : nat) : R :=
  exp (s j) / sum n (fun z => exp (s z)).

(* |x|^b of a real x; 0^0 = 1, and 0^b = 0 for every other b. *)
Definition apow (x b : R) : R :=
  if Req_EM_T x 0 then (if Req_EM_T b 0 then 1 else 0) else Rpower (Rabs x) b.

(* |j - i|. *)
Definition distance (i j : nat) : R := Rabs (INR j - INR i).

(* ALiBi's a_ij = -m |j - i|. *)
Definition alibi (m : R) (i j : nat) : R := - m * distance i j.

(* The GGD's b_ij = -|(j - i - mu)/alpha|^beta (BAM, section 2.3). *)
Definition ggd (alpha beta mu : R) (i j : nat) : R :=
  - apow ((INR j - INR i - mu) / alpha) beta.

(* ---- sums *)

Lemma sum_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> sum n f = sum n g.
Proof.
  induction n; intros H; simpl; [reflexivity|].
  rewrite IHn, (H n); [reflexivity | lia | intros; apply H; lia].
Qed.

Lemma sum_plus n f g : sum n (fun k => f k + g k) = sum n f + sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_minus n f g : sum n (fun k => f k - g k) = sum n f - sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_scal n c f : sum n (fun k => c * f k) = c * sum n f.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_scal_r n c f : sum n (fun k => f k * c) = sum n f * c.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_div n c f : sum n (fun k => f k / c) = sum n f / c.
Proof. unfold Rdiv; apply sum_scal_r. Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; lra|]. rewrite S_INR; simpl; rewrite IHn; lra. Qed.

Lemma sum_le n f g : (forall k, (k < n)%nat -> f k <= g k) -> sum n f <= sum n g.
Proof.
  induction n; intros H; simpl; [lra|].
  apply Rplus_le_compat; [apply IHn; intros; apply H; lia | apply H; lia].
Qed.

Lemma sum_nonneg n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= sum n f.
Proof.
  intros H; replace 0 with (sum n (fun _ => 0)) by (rewrite sum_const; lra).
  now apply sum_le.
Qed.

Lemma sum_lt n f g k :
  (k < n)%nat -> (forall z, (z < n)%nat -> f z <= g z) -> f k < g k -> sum n f < sum n g.
Proof.
  induction n; intros Hk H Hlt; [lia|]; simpl.
  destruct (Nat.eq_dec k n) as [->|ne].
  - apply Rplus_le_lt_compat; [apply sum_le; intros; apply H; lia | exact Hlt].
  - apply Rplus_lt_le_compat; [apply IHn; [lia | intros; apply H; lia | exact Hlt] | apply H; lia].
Qed.

Lemma sum_pos n f : (0 < n)%nat -> (forall k, (k < n)%nat -> 0 < f k) -> 0 < sum n f.
Proof.
  intros Hn H; replace 0 with (sum n (fun _ => 0)) by (rewrite sum_const; lra).
  apply (sum_lt n _ _ 0%nat); [lia | intros; apply Rlt_le, H; lia | apply H; lia].
Qed.

Lemma sum_term n f k : (k < n)%nat -> (forall z, (z < n)%nat -> 0 <= f z) -> f k <= sum n f.
Proof.
  induction n; intros Hk H; [lia|]; simpl.
  destruct (Nat.eq_dec k n) as [->|ne].
  - assert (0 <= sum n f) by (apply sum_nonneg; intros; apply H; lia); lra.
  - assert (f k <= sum n f) by (apply IHn; [lia | intros; apply H; lia]).
    assert (0 <= f n) by (apply H; lia); lra.
Qed.

Lemma sum_split a b f : sum (a + b) f = sum a f + sum b (fun k => f (a + k)%nat).
Proof.
  induction b; [rewrite Nat.add_0_r; simpl; lra|].
  rewrite Nat.add_succ_r; simpl; rewrite IHb; lra.
Qed.

(* f w + ... + f (n - 1). *)
Definition sum_from (w n : nat) (f : nat -> R) : R := sum (n - w) (fun k => f (w + k)%nat).

Lemma sum_cut w n f : (w <= n)%nat -> sum n f = sum w f + sum_from w n f.
Proof.
  intros H; unfold sum_from.
  rewrite <- sum_split; f_equal; lia.
Qed.

Lemma sum_geometric n q : sum n (fun k => q ^ k) * (1 - q) = 1 - q ^ n.
Proof. induction n; simpl; [lra|]. rewrite Rmult_plus_distr_r, IHn; lra. Qed.

Lemma sum_telescopes n f : sum n (fun k => f (S k) - f k) = f n - f 0%nat.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

(* ---- the softmax *)

Lemma sum_exp_pos n s : (0 < n)%nat -> 0 < sum n (fun z => exp (s z)).
Proof. intros; apply sum_pos; [assumption | intros; apply exp_pos]. Qed.

Lemma softmax_pos n s j : (0 < n)%nat -> 0 < softmax n s j.
Proof. intros; apply Rdiv_lt_0_compat; [apply exp_pos | now apply sum_exp_pos]. Qed.

Lemma softmax_sum n s : (0 < n)%nat -> sum n (softmax n s) = 1.
Proof.
  intros Hn; unfold softmax; rewrite sum_div.
  apply Rinv_r, Rgt_not_eq, sum_exp_pos, Hn.
Qed.

Lemma softmax_ext n s t : (forall z, (z < n)%nat -> s z = t z) ->
  forall j, (j < n)%nat -> softmax n s j = softmax n t j.
Proof.
  intros H j Hj; unfold softmax; rewrite (H j Hj); f_equal.
  apply sum_ext; intros k Hk; now rewrite H.
Qed.

(* Only differences of scores matter. *)
Lemma softmax_inv n s j : softmax n s j = / sum n (fun z => exp (s z - s j)).
Proof.
  unfold softmax.
  rewrite (sum_ext n (fun z => exp (s z - s j)) (fun z => exp (s z) * / exp (s j))).
  - rewrite sum_scal_r, Rinv_mult, Rinv_inv; unfold Rdiv; ring.
  - intros; unfold Rminus; now rewrite exp_plus, exp_Ropp.
Qed.

Lemma softmax_shift n s c j : softmax n (fun z => s z + c) j = softmax n s j.
Proof.
  rewrite !softmax_inv; f_equal; apply sum_ext; intros; f_equal; ring.
Qed.

Lemma softmax_le n s t j : (0 < n)%nat ->
  (forall z, (z < n)%nat -> t z - t j <= s z - s j) -> softmax n s j <= softmax n t j.
Proof.
  intros Hn H; rewrite !softmax_inv; apply Rinv_le_contravar.
  - apply sum_pos; [assumption | intros; apply exp_pos].
  - apply sum_le; intros; destruct (H k H0) as [h|h]; [left; now apply exp_increasing | right; now rewrite h].
Qed.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [h| ->]; [left; now apply exp_increasing | lra]. Qed.

Lemma softmax_at_most n s j z : (z < n)%nat -> softmax n s j <= exp (s j - s z).
Proof.
  intros Hz; rewrite softmax_inv.
  replace (s j - s z) with (- (s z - s j)) by ring; rewrite exp_Ropp.
  apply Rinv_le_contravar; [apply exp_pos|].
  apply (sum_term n (fun z => exp (s z - s j))); [assumption | intros; left; apply exp_pos].
Qed.

Lemma softmax_ratio n s j k : (0 < n)%nat -> softmax n s j / softmax n s k = exp (s j - s k).
Proof.
  intros Hn; unfold softmax, Rminus; rewrite exp_plus, exp_Ropp.
  assert (h := sum_exp_pos n s Hn); assert (e := exp_pos (s k)); field; lra.
Qed.

Lemma softmax_ratio_mult n s j k : (0 < n)%nat ->
  softmax n s j = exp (s j - s k) * softmax n s k.
Proof.
  intros Hn; rewrite <- (softmax_ratio n s j k Hn).
  assert (h := softmax_pos n s k Hn); field; lra.
Qed.

Lemma softmax_le_1 n s j : (j < n)%nat -> softmax n s j <= 1.
Proof.
  intros Hj; apply Rle_trans with (exp (s j - s j)); [now apply softmax_at_most|].
  rewrite Rminus_diag_eq, exp_0; lra.
Qed.

Lemma softmax_lt_1 n s j : (2 <= n)%nat -> (j < n)%nat -> softmax n s j < 1.
Proof.
  intros Hn Hj; rewrite <- (softmax_sum n s) by lia.
  set (k := if Nat.eq_dec j 0 then 1%nat else 0%nat).
  assert (Hk : (k < n)%nat /\ k <> j) by (unfold k; destruct (Nat.eq_dec j 0); lia).
  assert (H : forall m, (m <= n)%nat -> (j < m)%nat -> (k < m)%nat ->
     softmax n s j + softmax n s k <= sum m (softmax n s)).
  { assert (P : forall z, 0 <= softmax n s z) by (intros; left; apply softmax_pos; lia).
    induction m; intros Hm Hjm Hkm; [lia|]; simpl.
    destruct (Nat.eq_dec j m) as [e|e]; [|destruct (Nat.eq_dec k m) as [e'|e']].
    - subst m; assert (softmax n s k <= sum j (softmax n s)) by (apply sum_term; [lia | auto]); lra.
    - rewrite <- e'; assert (softmax n s j <= sum k (softmax n s)) by (apply sum_term; [lia | auto]); lra.
    - specialize (IHm ltac:(lia) ltac:(lia) ltac:(lia)); specialize (P m); lra. }
  specialize (H n ltac:(lia) Hj (proj1 Hk)).
  assert (0 < softmax n s k) by (apply softmax_pos; lia); lra.
Qed.

(* Scores t that gain on s with the distance move weight outwards, past every w: the weights are in
   a ratio that does not decrease. *)
Lemma mass_moves_outwards n w s t : (w <= n)%nat -> (0 < n)%nat ->
  (forall d e, (d <= e)%nat -> (e < n)%nat -> t d - s d <= t e - s e) ->
  sum_from w n (softmax n s) <= sum_from w n (softmax n t).
Proof.
  intros Hw Hn H.
  destruct (Nat.eq_dec w n) as [->|ne]; [unfold sum_from; rewrite Nat.sub_diag; simpl; lra|].
  unfold sum_from, softmax; rewrite !sum_div, !(sum_cut w n) by assumption; unfold sum_from.
  set (A := sum w (fun z => exp (s z))); set (A' := sum w (fun z => exp (t z))).
  set (B := sum (n - w) (fun k => exp (s (w + k)%nat))).
  set (B' := sum (n - w) (fun k => exp (t (w + k)%nat))).
  assert (hA : 0 <= A) by (apply sum_nonneg; intros; left; apply exp_pos).
  assert (hA' : 0 <= A') by (apply sum_nonneg; intros; left; apply exp_pos).
  assert (hB : 0 < B) by (apply sum_pos; [lia | intros; apply exp_pos]).
  assert (hB' : 0 < B') by (apply sum_pos; [lia | intros; apply exp_pos]).
  set (r := exp (t w - s w)).
  assert (hr : 0 < r) by apply exp_pos.
  assert (h1 : A' <= r * A).
  { unfold A', A, r; rewrite <- sum_scal; apply sum_le; intros k Hk.
    rewrite <- exp_plus; apply exp_le; specialize (H k w ltac:(lia) ltac:(lia)); lra. }
  assert (h2 : r * B <= B').
  { unfold B', B, r; rewrite <- sum_scal; apply sum_le; intros k Hk.
    rewrite <- exp_plus; apply exp_le; specialize (H w (w + k)%nat ltac:(lia) ltac:(lia)); lra. }
  assert (h3 : A' * B <= A * B') by nra.
  apply Rmult_le_reg_r with ((A + B) * (A' + B')); [nra|].
  replace (B / (A + B) * ((A + B) * (A' + B'))) with (B * (A' + B')) by (field; lra).
  replace (B' / (A' + B') * ((A + B) * (A' + B'))) with (B' * (A + B)) by (field; lra).
  nra.
Qed.

(* ---- powers and limits *)

Lemma Rpower_pos x y : 0 < Rpower x y.
Proof. apply exp_pos. Qed.

Lemma Rpower_base_1 y : Rpower 1 y = 1.
Proof. unfold Rpower; rewrite ln_1, Rmult_0_r, exp_0; reflexivity. Qed.

Lemma apow_nonzero x b : x <> 0 -> apow x b = Rpower (Rabs x) b.
Proof. intros; unfold apow; destruct (Req_EM_T x 0); [contradiction | reflexivity]. Qed.

Lemma apow_pos x b : 0 < x -> apow x b = Rpower x b.
Proof. intros; rewrite apow_nonzero, Rabs_right; lra. Qed.

Lemma apow_0 b : b <> 0 -> apow 0 b = 0.
Proof.
  intros; unfold apow; destruct (Req_EM_T 0 0); [|lra].
  destruct (Req_EM_T b 0); [contradiction | reflexivity].
Qed.

Lemma apow_opp x b : apow (- x) b = apow x b.
Proof.
  unfold apow; rewrite Rabs_Ropp.
  destruct (Req_EM_T x 0), (Req_EM_T (- x) 0); try reflexivity; lra.
Qed.

Lemma apow_nonneg x b : 0 <= apow x b.
Proof.
  unfold apow; destruct (Req_EM_T x 0); [destruct (Req_EM_T b 0); lra | left; apply Rpower_pos].
Qed.

Lemma apow_1 x : apow x 1 = Rabs x.
Proof.
  unfold apow; destruct (Req_EM_T x 0) as [->|ne].
  - destruct (Req_EM_T 1 0); [lra | now rewrite Rabs_R0].
  - apply Rpower_1, Rabs_pos_lt, ne.
Qed.

(* Does not decrease with the size, for b > 0. *)
Lemma apow_le x y b : 0 < b -> Rabs x <= Rabs y -> apow x b <= apow y b.
Proof.
  intros Hb H; destruct (Req_EM_T x 0) as [->|nx].
  - rewrite apow_0 by lra; apply apow_nonneg.
  - assert (0 < Rabs x) by now apply Rabs_pos_lt.
    assert (y <> 0) by (intros ->; rewrite Rabs_R0 in H; lra).
    rewrite !apow_nonzero by assumption; apply Rle_Rpower_l; lra.
Qed.

Lemma apow_lt x y b : 0 < b -> Rabs x < Rabs y -> apow x b < apow y b.
Proof.
  intros Hb H.
  assert (y <> 0) by (intros ->; rewrite Rabs_R0 in H; pose proof (Rabs_pos x); lra).
  destruct (Req_EM_T x 0) as [->|nx].
  - rewrite apow_0, apow_nonzero by (assumption || lra); apply Rpower_pos.
  - assert (0 < Rabs x) by now apply Rabs_pos_lt.
    rewrite !apow_nonzero by assumption; apply Rlt_Rpower_l; lra.
Qed.

Lemma distance_nonneg i j : 0 <= distance i j.
Proof. apply Rabs_pos. Qed.

Lemma distance_self i : distance i i = 0.
Proof. unfold distance; rewrite Rminus_diag_eq, Rabs_R0; reflexivity. Qed.

Lemma distance_causal i j : (j <= i)%nat -> distance i j = INR i - INR j.
Proof.
  intros H; unfold distance; rewrite Rabs_left1; [lra|].
  apply le_INR in H; lra.
Qed.

Lemma distance_ge_1 i j : i <> j -> 1 <= distance i j.
Proof.
  intros H; unfold distance.
  destruct (Nat.lt_ge_cases i j) as [h|h].
  - apply (lt_INR i j) in h as h'; rewrite Rabs_right by lra.
    assert (S i <= j)%nat as k by lia; apply le_INR in k; rewrite S_INR in k; lra.
  - assert (S j <= i)%nat as k by lia; apply le_INR in k; rewrite S_INR in k.
    rewrite Rabs_left by lra; lra.
Qed.

Lemma abs_bounds x F : Rabs x <= F -> - F <= x <= F.
Proof. unfold Rabs; destruct (Rcase_abs x); lra. Qed.

(* A number beyond which e^(c - m d) is below epsilon. *)
Lemma exp_falls c m eps : 0 < m -> 0 < eps -> exists D, forall d, D <= d -> exp (c - m * d) <= eps.
Proof.
  intros Hm He; exists ((c - ln eps) / m); intros d Hd.
  rewrite <- (exp_ln eps He) at 1; apply exp_le.
  apply (Rmult_le_compat_l m) in Hd; [|lra].
  replace (m * ((c - ln eps) / m)) with (c - ln eps) in Hd by (field; lra); lra.
Qed.

Lemma exp_times_nat m k : exp (- m * INR k) = exp (- m) ^ k.
Proof.
  induction k; [simpl; rewrite Rmult_0_r; apply exp_0|].
  rewrite S_INR; simpl; rewrite <- IHk, <- exp_plus; f_equal; ring.
Qed.

Lemma sum_reverse n f : sum n f = sum n (fun k => f (n - 1 - k)%nat).
Proof.
  induction n; [reflexivity|].
  replace (sum (S n) (fun k => f (S n - 1 - k)%nat)) with
    (sum (1 + n) (fun k => f (S n - 1 - k)%nat)) by reflexivity.
  rewrite sum_split; simpl; rewrite IHn, Nat.sub_0_r, Nat.sub_0_r, Rplus_0_l, Rplus_comm; f_equal.
  apply sum_ext; intros; f_equal; lia.
Qed.

Lemma Rpower_div x a b : 0 < x -> 0 < a -> Rpower (x / a) b = Rpower a (- b) * Rpower x b.
Proof.
  intros Hx Ha; unfold Rpower, Rdiv.
  rewrite ln_mult, ln_Rinv, <- exp_plus by (try apply Rinv_0_lt_compat; assumption).
  f_equal; ring.
Qed.

Lemma ln_le x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros Hx [H| ->]; [left; now apply ln_increasing | lra]. Qed.

Lemma Rpower_anti x y b : 0 < x < y -> b < 0 -> Rpower y b < Rpower x b.
Proof.
  intros [Hx Hy] Hb; unfold Rpower; apply exp_increasing.
  assert (ln x < ln y) by now apply ln_increasing. nra.
Qed.

Lemma Rpower_anti_le x y b : 0 < x <= y -> b <= 0 -> Rpower y b <= Rpower x b.
Proof.
  intros [Hx Hy] Hb; unfold Rpower; apply exp_le.
  assert (ln x <= ln y) by now apply ln_le. nra.
Qed.

Lemma Rpower_le_exponent x b c : 1 <= x -> b <= c -> Rpower x b <= Rpower x c.
Proof.
  intros Hx Hb; unfold Rpower; apply exp_le.
  assert (0 <= ln x) by (rewrite <- ln_1; apply ln_le; lra). nra.
Qed.

Lemma Rpower_lt_exponent x b c : 1 < x -> b < c -> Rpower x b < Rpower x c.
Proof.
  intros Hx Hb; unfold Rpower; apply exp_increasing.
  assert (0 < ln x) by (rewrite <- ln_1; apply ln_increasing; lra). nra.
Qed.

(* Away from its own position, with mu = 0: b_ij = -alpha^-beta |j - i|^beta. *)
Lemma ggd_off alpha beta i j : 0 < alpha -> i <> j ->
  ggd alpha beta 0 i j = - (Rpower alpha (- beta) * Rpower (distance i j) beta).
Proof.
  intros Ha H; assert (d := distance_ge_1 i j H); unfold ggd; f_equal.
  assert (ne : INR j - INR i <> 0) by (intros E; unfold distance in d; rewrite E, Rabs_R0 in d; lra).
  rewrite Rminus_0_r, apow_nonzero.
  - unfold Rdiv at 1; rewrite Rabs_mult, (Rabs_right (/ alpha)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, Ha).
    fold (distance i j); fold (distance i j / alpha); apply Rpower_div; lra.
  - intros E; apply ne; apply (Rmult_eq_compat_r alpha) in E; field_simplify in E; lra.
Qed.

Lemma ggd_own alpha beta i : beta <> 0 -> ggd alpha beta 0 i i = 0.
Proof.
  intros; unfold ggd; replace ((INR i - INR i - 0) / alpha) with 0 by (unfold Rdiv; ring).
  rewrite apow_0 by assumption; ring.
Qed.

Lemma Rpower_root a b : b <> 0 -> 0 < a -> Rpower (Rpower a (/ b)) b = a.
Proof. intros; rewrite Rpower_mult, Rinv_l, Rpower_1; auto. Qed.

Lemma nat_above K : exists N : nat, K <= INR N.
Proof.
  exists (Z.to_nat (up K)); destruct (archimed K) as [H _].
  rewrite INR_IZR_INZ; destruct (Z.le_gt_cases 0 (up K)) as [h|h].
  - rewrite Z2Nat.id by assumption; lra.
  - replace (Z.to_nat (up K)) with 0%nat by lia; apply IZR_lt in h; simpl; lra.
Qed.

Lemma sum_indicator n k : (k < n)%nat -> sum n (fun z => if (z =? k)%nat then 1 else 0) = 1.
Proof.
  intros Hk; rewrite (sum_cut k n) by lia; unfold sum_from.
  replace (n - k)%nat with (1 + (n - k - 1))%nat by lia; rewrite sum_split.
  rewrite (sum_ext k _ (fun _ => 0)), (sum_ext (n - k - 1) _ (fun _ => 0)), !sum_const.
  - simpl; rewrite Nat.add_0_r, Nat.eqb_refl; ring.
  - intros z Hz; destruct (Nat.eqb_spec (k + (1 + z)) k); [lia | reflexivity].
  - intros z Hz; destruct (Nat.eqb_spec z k); [lia | reflexivity].
Qed.
