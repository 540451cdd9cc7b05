(* SPDX-License-Identifier: Apache-2.0 *)
(* The foundation of the judge: what docs/bounds.md says of perturbed scores and weights, in exact
   arithmetic, and of a sum in floating point. *)
From Plumbline Require Import base posterior.

(* ---- perturbed weights *)

(* The output of weights w_j > 0, which need not sum to 1. *)
Definition weighted (n : nat) (w v : nat -> R) : R := sum n (fun j => w j * v j) / sum n w.

Lemma abs_sum_le n f g : (forall k, (k < n)%nat -> Rabs (f k) <= g k) -> Rabs (sum n f) <= sum n g.
Proof.
  induction n; intros H; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|].
  apply Rplus_le_compat; [apply IHn; intros; apply H; lia | apply H; lia].
Qed.

(* "The weights": with probabilities p and relative errors |eps_j| <= e_j, E = sum p_j e_j < 1,
   |o' - o| <= sum p_j e_j |v_j - o| / (1 - E). *)
Theorem o_of_weights n p eps e v : sum n p = 1 -> (forall j, (j < n)%nat -> 0 <= p j) ->
  (forall j, (j < n)%nat -> Rabs (eps j) <= e j) ->
  let o := sum n (fun j => p j * v j) in
  let E := sum n (fun j => p j * e j) in
  E < 1 ->
  Rabs (weighted n (fun j => p j * (1 + eps j)) v - o) <=
  sum n (fun j => p j * e j * Rabs (v j - o)) / (1 - E).
Proof.
  intros P1 P0 He o E HE; unfold weighted.
  set (D := sum n (fun j => p j * (1 + eps j))).
  assert (DE : D = 1 + sum n (fun j => p j * eps j)).
  { transitivity (sum n p + sum n (fun j => p j * eps j)); [|rewrite P1; ring].
    unfold D; rewrite <- sum_plus; apply sum_ext; intros; ring. }
  assert (B : Rabs (sum n (fun j => p j * eps j)) <= E).
  { apply abs_sum_le; intros k Hk; rewrite Rabs_mult, (Rabs_right (p k)) by (apply Rle_ge, P0, Hk).
    apply Rmult_le_compat_l; auto. }
  apply abs_bounds in B as B'; assert (HD : 1 - E <= D) by lra.
  assert (N : sum n (fun j => p j * (1 + eps j) * v j) / D - o =
              sum n (fun j => p j * eps j * (v j - o)) / D).
  { assert (N' : sum n (fun j => p j * eps j * (v j - o)) =
                 sum n (fun j => p j * (1 + eps j) * v j) - D * o).
    { rewrite (sum_ext n (fun j => p j * eps j * (v j - o))
        (fun j => (p j * (1 + eps j) * v j - o * (p j * (1 + eps j))) - (p j * v j - o * p j)))
        by (intros; ring).
      rewrite !sum_minus, !sum_scal, P1; fold D; fold o; ring. }
    rewrite N'; field; lra. }
  rewrite N; unfold Rdiv; rewrite Rabs_mult, (Rabs_right (/ D)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat; lra).
  apply Rmult_le_compat.
  - apply Rabs_pos.
  - left; apply Rinv_0_lt_compat; lra.
  - apply abs_sum_le; intros k Hk; rewrite !Rabs_mult, (Rabs_right (p k)) by (apply Rle_ge, P0, Hk).
    apply Rmult_le_compat_r; [apply Rabs_pos|]; apply Rmult_le_compat_l; auto.
  - apply Rinv_le_contravar; lra.
Qed.

Lemma exp_error x h : Rabs x <= h -> Rabs (exp x - 1) <= exp h - 1.
Proof.
  intros H; apply abs_bounds in H as [Hl Hu].
  assert (a := exp_le x h Hu); assert (b := exp_le (- h) x Hl).
  assert (c : 1 <= exp h) by (rewrite <- exp_0; apply exp_le; lra).
  rewrite exp_Ropp in b; assert (d : exp h * / exp h = 1) by (apply Rinv_r; lra).
  unfold Rabs; destruct (Rcase_abs (exp x - 1)); nra.
Qed.

(* The softmax of perturbed scores has the probabilities of s times factors within e^-h and e^h. *)
Lemma softmax_of_perturbed n s t v : (0 < n)%nat ->
  sum n (fun j => softmax n t j * v j) =
  weighted n (fun j => softmax n s j * (1 + (exp (t j - s j) - 1))) v.
Proof.
  intros Hn; rewrite <- (proj1 (definition_1 n t v Hn)); unfold attention, weighted, softmax.
  set (Z := sum n (fun z => exp (s z))).
  assert (HZ : 0 < Z) by now apply sum_exp_pos.
  assert (HT := sum_exp_pos n t Hn).
  assert (W : forall j, exp (s j) / Z * (1 + (exp (t j - s j) - 1)) = exp (t j) / Z).
  { intros j; replace (exp (t j)) with (exp (s j) * exp (t j - s j)) by (rewrite <- exp_plus; f_equal; ring).
    field; lra. }
  assert (N : sum n (fun j => exp (s j) / Z * (1 + (exp (t j - s j) - 1)) * v j) =
              sum n (fun j => exp (t j) * v j) / Z)
    by (rewrite <- sum_div; apply sum_ext; intros; rewrite W; field; lra).
  assert (D : sum n (fun j => exp (s j) / Z * (1 + (exp (t j - s j) - 1))) =
              sum n (fun z => exp (t z)) / Z)
    by (rewrite <- sum_div; apply sum_ext; intros; apply W).
  rewrite N, D; field; lra.
Qed.

(* The forward bound of o: with |s'_j - s_j| <= h_j, E = sum p_j (e^(h_j) - 1) < 1,
   |o' - o| <= sum p_j (e^(h_j) - 1) |v_j - o| / (1 - E). *)
Theorem o_of_scores n s s' h v : (0 < n)%nat ->
  (forall j, (j < n)%nat -> Rabs (s' j - s j) <= h j) ->
  let p := softmax n s in
  let o := sum n (fun j => p j * v j) in
  let E := sum n (fun j => p j * (exp (h j) - 1)) in
  E < 1 ->
  Rabs (sum n (fun j => softmax n s' j * v j) - o) <=
  sum n (fun j => p j * (exp (h j) - 1) * Rabs (v j - o)) / (1 - E).
Proof.
  intros Hn H p o E HE; rewrite (softmax_of_perturbed n s s' v Hn).
  apply (o_of_weights n p (fun j => exp (s' j - s j) - 1) (fun j => exp (h j) - 1) v).
  - now apply softmax_sum.
  - intros; left; now apply softmax_pos.
  - intros j Hj; apply exp_error; now apply H.
  - exact HE.
Qed.

(* L = ln sum_z e^(s_z). *)
Definition lse (n : nat) (s : nat -> R) : R := ln (sum n (fun z => exp (s z))).

(* "LSE": L is 1-Lipschitz in the scores in the maximum norm. *)
Theorem lse_of_scores n s s' H : (0 < n)%nat -> (forall j, (j < n)%nat -> Rabs (s' j - s j) <= H) ->
  Rabs (lse n s' - lse n s) <= H.
Proof.
  intros Hn Hh.
  assert (one : forall a b, (forall j, (j < n)%nat -> a j - b j <= H) -> lse n a - lse n b <= H).
  { intros a b Hab; unfold lse.
    assert (L : sum n (fun z => exp (a z)) <= exp H * sum n (fun z => exp (b z))).
    { rewrite <- sum_scal; apply sum_le; intros k Hk; rewrite <- exp_plus; apply exp_le.
      specialize (Hab k Hk); lra. }
    apply ln_le in L; [|now apply sum_exp_pos].
    rewrite ln_mult, ln_exp in L by (apply exp_pos || now apply sum_exp_pos); lra. }
  assert (a : lse n s' - lse n s <= H) by (apply one; intros j Hj; destruct (abs_bounds _ _ (Hh j Hj)); lra).
  assert (b : lse n s - lse n s' <= H) by (apply one; intros j Hj; destruct (abs_bounds _ _ (Hh j Hj)); lra).
  apply Rabs_le; lra.
Qed.

(* And it moves by at most E/(1 - E), E = sum p_j (e^(h_j) - 1) < 1. *)
Theorem lse_by_mass n s s' h : (0 < n)%nat ->
  (forall j, (j < n)%nat -> Rabs (s' j - s j) <= h j) ->
  let E := sum n (fun j => softmax n s j * (exp (h j) - 1)) in
  E < 1 -> Rabs (lse n s' - lse n s) <= E / (1 - E).
Proof.
  intros Hn H E HE; unfold lse.
  set (Z := sum n (fun z => exp (s z))); set (Z' := sum n (fun z => exp (s' z))).
  assert (HZ : 0 < Z) by now apply sum_exp_pos.
  assert (HZ' : 0 < Z') by now apply sum_exp_pos.
  set (x := sum n (fun j => softmax n s j * (exp (s' j - s j) - 1))).
  assert (B : Rabs x <= E).
  { apply abs_sum_le; intros k Hk; assert (P := softmax_pos n s k Hn).
    rewrite Rabs_mult, (Rabs_right (softmax n s k)) by lra.
    apply Rmult_le_compat_l; [lra | apply exp_error, H, Hk]. }
  apply abs_bounds in B.
  assert (Q : Z' = Z * (1 + x)).
  { unfold x; rewrite (sum_ext n _ (fun j => exp (s' j) / Z - softmax n s j)).
    - rewrite sum_minus, sum_div.
      change (sum n (fun j => softmax n s j)) with (sum n (softmax n s)).
      rewrite softmax_sum by assumption; fold Z'; field; lra.
    - intros j _; unfold softmax; fold Z.
      replace (exp (s' j)) with (exp (s j) * exp (s' j - s j)) by (rewrite <- exp_plus; f_equal; ring).
      field; lra. }
  assert (X : 0 < 1 + x) by lra.
  rewrite Q, ln_mult by assumption; replace (ln Z + ln (1 + x) - ln Z) with (ln (1 + x)) by ring.
  assert (up : forall y, 0 < y -> ln y <= y - 1).
  { intros y Hy; rewrite <- (ln_exp (y - 1)); apply ln_le; [assumption|].
    destruct (Req_EM_T (y - 1) 0) as [e|ne]; [rewrite e, exp_0; lra|].
    assert (g := exp_ineq1 (y - 1) ne); lra. }
  assert (a := up (1 + x) X).
  assert (b := up (/ (1 + x)) ltac:(now apply Rinv_0_lt_compat)); rewrite ln_Rinv in b by assumption.
  assert (c : / (1 + x) <= / (1 - E)) by (apply Rinv_le_contravar; lra).
  assert (d : E / (1 - E) = / (1 - E) - 1) by (field; lra).
  assert (f : E <= E / (1 - E)).
  { apply Rmult_le_reg_r with (1 - E); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra. }
  apply Rabs_le; lra.
Qed.

(* ---- sums in floating point *)

(* A sum of n terms in some order: which two are added when. *)
Inductive order : Type := term (x : R) | add (l r : order).
Fixpoint terms (t : order) : nat := match t with term _ => 1 | add l r => terms l + terms r end.
Fixpoint exact (t : order) : R := match t with term x => x | add l r => exact l + exact r end.
Fixpoint size (t : order) : R := match t with term x => Rabs x | add l r => size l + size r end.

(* The standard model with unit roundoff u: a sum is off by a factor 1 + delta, |delta| <= u. *)
Inductive computed (u : R) : order -> R -> Prop :=
| computed_term x : computed u (term x) x
| computed_add l r a b delta : computed u l a -> computed u r b -> Rabs delta <= u ->
    computed u (add l r) ((a + b) * (1 + delta)).

Lemma terms_pos t : (1 <= terms t)%nat.
Proof. induction t; simpl; lia. Qed.

Lemma exact_le_size t : Rabs (exact t) <= size t.
Proof. induction t; simpl; [lra|]; eapply Rle_trans; [apply Rabs_triang | lra]. Qed.

Lemma computed_error u t c : 0 <= u -> computed u t c ->
  Rabs (c - exact t) <= ((1 + u) ^ (terms t - 1) - 1) * size t.
Proof.
  intros Hu H; induction H; simpl terms; simpl exact; simpl size.
  - rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; simpl; lra.
  - set (k := (terms l + terms r - 2)%nat).
    replace (terms l + terms r - 1)%nat with (S k) by (unfold k; pose proof (terms_pos l); pose proof (terms_pos r); lia).
    assert (pl := exact_le_size l); assert (pr := exact_le_size r).
    assert (sl := Rabs_pos (exact l)); assert (sr := Rabs_pos (exact r)).
    assert (M : forall m, (m <= k)%nat -> (1 + u) ^ m <= (1 + u) ^ k) by (intros; apply Rle_pow; [lra | assumption]).
    assert (Ml := M (terms l - 1)%nat ltac:(unfold k; pose proof (terms_pos r); lia)).
    assert (Mr := M (terms r - 1)%nat ltac:(unfold k; pose proof (terms_pos l); lia)).
    set (w := (1 + u) ^ k) in *.
    assert (el : Rabs (a - exact l) <= (w - 1) * size l) by (eapply Rle_trans; [apply IHcomputed1|]; apply Rmult_le_compat_r; lra).
    assert (er : Rabs (b - exact r) <= (w - 1) * size r) by (eapply Rle_trans; [apply IHcomputed2|]; apply Rmult_le_compat_r; lra).
    replace ((a + b) * (1 + delta) - (exact l + exact r)) with
      (((a - exact l) + (b - exact r)) * (1 + delta) + delta * (exact l + exact r)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]; rewrite !Rabs_mult.
    assert (A : Rabs (a - exact l + (b - exact r)) <= (w - 1) * (size l + size r))
      by (eapply Rle_trans; [apply Rabs_triang|]; lra).
    assert (B : Rabs (1 + delta) <= 1 + u)
      by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    assert (C : Rabs (exact l + exact r) <= size l + size r)
      by (eapply Rle_trans; [apply Rabs_triang|]; lra).
    assert (AB : Rabs (a - exact l + (b - exact r)) * Rabs (1 + delta) <= (w - 1) * (size l + size r) * (1 + u))
      by (apply Rmult_le_compat; try apply Rabs_pos; assumption).
    assert (DC : Rabs delta * Rabs (exact l + exact r) <= u * (size l + size r))
      by (apply Rmult_le_compat; try apply Rabs_pos; assumption).
    replace ((1 + u) ^ S k) with ((1 + u) * w) by reflexivity; lra.
Qed.

(* gamma_n = n u / (1 - n u). *)
Definition gamma (n : nat) (u : R) : R := INR n * u / (1 - INR n * u).

Lemma power_at_most_gamma n u : 0 <= u -> INR n * u < 1 -> (1 + u) ^ n - 1 <= gamma n u.
Proof.
  intros Hu Hn.
  assert (G : forall k, INR k * u < 1 -> (1 + u) ^ k * (1 - INR k * u) <= 1).
  { induction k; intros H; [simpl; lra|].
    rewrite S_INR in *; assert (N := pos_INR k); assert (L := IHk ltac:(nra)).
    assert (P : 0 <= (1 + u) ^ k) by (apply pow_le; lra).
    simpl; assert ((1 + u) * (1 - (INR k + 1) * u) <= 1 - INR k * u) by nra; nra. }
  unfold gamma; apply Rmult_le_reg_r with (1 - INR n * u); [lra|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; specialize (G n Hn); lra.
Qed.

(* "gamma_n": a sum of n terms, in any order, is off by at most gamma_n times the sum of the terms'
   sizes. *)
Theorem gamma_n u t c : 0 <= u -> INR (terms t) * u < 1 -> computed u t c ->
  Rabs (c - exact t) <= gamma (terms t) u * size t.
Proof.
  intros Hu Hn H; eapply Rle_trans; [apply computed_error; eassumption|].
  apply Rmult_le_compat_r.
  - pose proof (exact_le_size t); pose proof (Rabs_pos (exact t)); lra.
  - eapply Rle_trans; [|apply power_at_most_gamma; assumption].
    assert ((1 + u) ^ (terms t - 1) <= (1 + u) ^ terms t) by (apply Rle_pow; [lra | lia]); lra.
Qed.
