(* SPDX-License-Identifier: Apache-2.0 *)
(* The three readings of Z: BAM, Theorem 1 and appendix K. *)
From Plumbline Require Import base posterior.

(* <p_cont, p_pos> = sum_j p_cont(j) p_pos(j). *)
Definition overlap (n : nat) (p q : nat -> R) : R := sum n (fun j => p j * q j).

(* p is a point of the simplex over n keys. *)
Definition in_simplex (n : nat) (p : nat -> R) : Prop :=
  (forall j, (j < n)%nat -> 0 <= p j) /\ sum n p = 1.

Lemma softmax_in_simplex n s : (0 < n)%nat -> in_simplex n (softmax n s).
Proof. intros; split; [intros; left; now apply softmax_pos | now apply softmax_sum]. Qed.

Lemma simplex_le_1 n p j : in_simplex n p -> (j < n)%nat -> p j <= 1.
Proof. intros [H E] Hj; rewrite <- E; now apply sum_term. Qed.

(* The only Z for which sum_j p_cont(j) p_pos(j) / Z = 1 is sum_j p_cont(j) p_pos(j) =
   Z_joint / (Z_cont Z_pos). (Theorem 1, last line of the proof, with the constants of K.1.) *)
Theorem z_sum n f g : (0 < n)%nat ->
  (forall Z, Z <> 0 ->
    (sum n (fun j => softmax n f j * softmax n g j / Z) = 1 <->
     Z = overlap n (softmax n f) (softmax n g))) /\
  overlap n (softmax n f) (softmax n g) =
  partition n (fun j => f j + g j) / (partition n f * partition n g).
Proof.
  intros Hn; split; [|now apply overlap_is_quotient].
  intros Z HZ; rewrite sum_div; fold (overlap n (softmax n f) (softmax n g)).
  split; intros H.
  - apply (Rmult_eq_compat_r Z) in H; field_simplify in H; lra.
  - rewrite <- H; now apply Rinv_r.
Qed.

(* K.2, first bullet: the overlap of two distributions over the same keys lies in [0, 1]. *)
Theorem z_overlap_range n p q : in_simplex n p -> in_simplex n q -> 0 <= overlap n p q <= 1.
Proof.
  intros Hp Hq; split.
  - apply sum_nonneg; intros; apply Rmult_le_pos; [now apply Hp | now apply Hq].
  - rewrite <- (proj2 Hp); apply sum_le; intros k Hk.
    assert (h := simplex_le_1 n q k Hq Hk); assert (h' := proj1 Hp k Hk).
    assert (h'' := proj1 Hq k Hk); nra.
Qed.

(* Sharper, for softmax vectors over two keys or more: 0 < <p_cont, p_pos> < 1. *)
Theorem z_overlap_open n f g : (2 <= n)%nat -> 0 < overlap n (softmax n f) (softmax n g) < 1.
Proof.
  intros Hn; split; [apply overlap_pos; lia|].
  rewrite <- (softmax_sum n f) by lia.
  apply (sum_lt n _ _ 0%nat); [lia| |].
  - intros k Hk; assert (h := softmax_pos n f k ltac:(lia)).
    assert (h' := softmax_lt_1 n g k Hn Hk); nra.
  - assert (h := softmax_pos n f 0 ltac:(lia)).
    assert (h' := softmax_lt_1 n g 0 Hn ltac:(lia)); nra.
Qed.

(* I = sum_j p_joint(j) ln[p_joint(j) / (p_cont(j) p_pos(j))] of K.3. *)
Definition information (n : nat) (f g : nat -> R) : R :=
  sum n (fun j => softmax n (fun z => f z + g z) j *
                  ln (softmax n (fun z => f z + g z) j / (softmax n f j * softmax n g j))).

(* K.3: I = ln(Z_cont Z_pos / Z_joint). *)
Theorem z_information_identity n f g : (0 < n)%nat ->
  information n f g =
  ln (partition n f * partition n g / partition n (fun j => f j + g j)).
Proof.
  intros Hn; unfold information.
  assert (hf : 0 < partition n f) by now apply sum_exp_pos.
  assert (hg : 0 < partition n g) by now apply sum_exp_pos.
  assert (hj : 0 < partition n (fun z => f z + g z)) by now apply sum_exp_pos.
  rewrite (sum_ext n _ (fun j => softmax n (fun z => f z + g z) j *
      ln (partition n f * partition n g / partition n (fun j => f j + g j)))).
  - rewrite sum_scal_r.
    change (sum n (fun j => softmax n (fun z => f z + g z) j)) with
      (sum n (softmax n (fun z => f z + g z))).
    rewrite softmax_sum by assumption; ring.
  - intros k Hk; do 2 f_equal; unfold softmax; fold (partition n f); fold (partition n g).
    fold (partition n (fun z => f z + g z)); rewrite exp_plus.
    assert (a := exp_pos (f k)); assert (b := exp_pos (g k)); field; repeat split; lra.
Qed.

(* By z_sum, Theorem 1's Z is exp(-I), where K.3 prints exp(I). *)
Theorem z_exp_information_corrected n f g : (0 < n)%nat ->
  overlap n (softmax n f) (softmax n g) = exp (- information n f g).
Proof.
  intros Hn; rewrite z_information_identity, (proj2 (z_sum n f g Hn)) by assumption.
  assert (hf : 0 < partition n f) by now apply sum_exp_pos.
  assert (hg : 0 < partition n g) by now apply sum_exp_pos.
  assert (hj : 0 < partition n (fun z => f z + g z)) by now apply sum_exp_pos.
  rewrite exp_Ropp, exp_ln; [field; lra|].
  apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption.
Qed.

Theorem z_exp_information_fails :
  exists n f g, (0 < n)%nat /\ overlap n (softmax n f) (softmax n g) <> exp (information n f g).
Proof.
  exists 2%nat, (fun _ => 0), (fun _ => 0); split; [lia|].
  assert (h := z_overlap_open 2 (fun _ => 0) (fun _ => 0) ltac:(lia)).
  assert (E := z_exp_information_corrected 2 (fun _ => 0) (fun _ => 0) ltac:(lia)).
  rewrite exp_Ropp in E; intros H; rewrite <- H in E.
  assert (P := proj1 h); apply (Rmult_eq_compat_r (overlap 2 (softmax 2 (fun _ => 0))
    (softmax 2 (fun _ => 0)))) in E; rewrite Rinv_l in E by lra; nra.
Qed.

(* K.2, second bullet: ||p||_2 <= ||p||_1 = 1 for any p in the simplex. *)
Theorem z_norms n p : in_simplex n p ->
  sqrt (overlap n p p) <= sum n (fun j => Rabs (p j)) /\ sum n (fun j => Rabs (p j)) = 1.
Proof.
  intros Hp.
  assert (E : sum n (fun j => Rabs (p j)) = 1).
  { rewrite <- (proj2 Hp); apply sum_ext; intros; apply Rabs_right, Rle_ge; now apply Hp. }
  split; [|exact E]; rewrite E, <- sqrt_1; apply sqrt_le_1_alt.
  apply (z_overlap_range n p p Hp Hp).
Qed.

(* K.2, fourth bullet: with the cosine in place of the overlap, the sum over the keys is not 1. *)
Theorem z_cosine_caveat n f g : (2 <= n)%nat ->
  let p := softmax n f in let q := softmax n g in
  let cosine := overlap n p q / (sqrt (overlap n p p) * sqrt (overlap n q q)) in
  sum n (fun j => p j * q j / cosine) < 1.
Proof.
  intros Hn p q cosine.
  assert (hp := z_overlap_open n f f Hn); assert (hq := z_overlap_open n g g Hn).
  assert (ho := z_overlap_open n f g Hn); fold p q in hp, hq, ho.
  assert (sp : 0 < sqrt (overlap n p p)) by (apply sqrt_lt_R0; lra).
  assert (sq : 0 < sqrt (overlap n q q)) by (apply sqrt_lt_R0; lra).
  rewrite sum_div; fold (overlap n p q); unfold cosine.
  replace (overlap n p q / (overlap n p q / (sqrt (overlap n p p) * sqrt (overlap n q q))))
    with (sqrt (overlap n p p) * sqrt (overlap n q q)) by (field; lra).
  assert (sqrt (overlap n p p) < 1) by (rewrite <- sqrt_1; apply sqrt_lt_1_alt; lra).
  assert (sqrt (overlap n q q) < 1) by (rewrite <- sqrt_1; apply sqrt_lt_1_alt; lra).
  nra.
Qed.

(* K.1: ln Z of Z = Z_cont Z_pos / Z_joint is F_joint - F_cont - F_pos with F = -ln Z, and
   ln Z_cont + ln Z_pos - ln Z_joint. *)
Theorem z_free_energy n f g : (0 < n)%nat ->
  let F s := - ln (partition n s) in
  let joint := fun j => f j + g j in
  ln (partition n f * partition n g / partition n joint) = F joint - F f - F g /\
  ln (partition n f * partition n g / partition n joint) =
    ln (partition n f) + ln (partition n g) - ln (partition n joint).
Proof.
  intros Hn F joint; unfold F.
  assert (hf : 0 < partition n f) by now apply sum_exp_pos.
  assert (hg : 0 < partition n g) by now apply sum_exp_pos.
  assert (hj : 0 < partition n joint) by now apply sum_exp_pos.
  assert (E : ln (partition n f * partition n g / partition n joint) =
    ln (partition n f) + ln (partition n g) - ln (partition n joint)).
  { unfold Rdiv; rewrite !ln_mult, ln_Rinv; try assumption.
    - ring.
    - now apply Rmult_lt_0_compat.
    - now apply Rinv_0_lt_compat. }
  split; [rewrite E; ring | exact E].
Qed.

(* K.1: p_ij proportional to exp(gamma (f_j + g_j)); the largest weight does not fall as gamma >= 0
   grows, and it is that of the largest score. *)
Theorem temperature n f g k gamma gamma' :
  (k < n)%nat -> (forall j, (j < n)%nat -> f j + g j <= f k + g k) -> 0 <= gamma <= gamma' ->
  (forall j, (j < n)%nat -> softmax n (fun z => gamma * (f z + g z)) j <=
                            softmax n (fun z => gamma * (f z + g z)) k) /\
  softmax n (fun z => gamma * (f z + g z)) k <= softmax n (fun z => gamma' * (f z + g z)) k.
Proof.
  intros Hk H Hg; split.
  - intros j Hj; rewrite (softmax_ratio_mult n _ j k) by lia.
    assert (h := softmax_pos n (fun z => gamma * (f z + g z)) k ltac:(lia)).
    assert (exp (gamma * (f j + g j) - gamma * (f k + g k)) <= 1).
    { rewrite <- exp_0; apply exp_le; specialize (H j Hj); nra. }
    nra.
  - apply softmax_le; [lia|]; intros z Hz; specialize (H z Hz); nra.
Qed.

(* K.1 prints Z_cont Z_pos / Z_joint = <p_cont, p_pos>; K.2 prints sum [p_cont p_pos] Z = 1 and
   Z = 1/<p_cont, p_pos>. Over two keys or more none of them can be. *)
Theorem z_ratio_as_printed_fails n f g : (2 <= n)%nat ->
  partition n f * partition n g / partition n (fun j => f j + g j) <>
  overlap n (softmax n f) (softmax n g).
Proof.
  intros Hn E; assert (h := z_overlap_open n f g Hn).
  rewrite <- E in h.
  assert (q := proj2 (z_sum n f g ltac:(lia))); rewrite <- E in q.
  assert (hf : 0 < partition n f) by (apply sum_exp_pos; lia).
  assert (hg : 0 < partition n g) by (apply sum_exp_pos; lia).
  assert (hj : 0 < partition n (fun z => f z + g z)) by (apply sum_exp_pos; lia).
  set (x := partition n f * partition n g / partition n (fun j => f j + g j)) in *.
  assert (x * x = 1); [|nra].
  rewrite q at 2; unfold x; field; repeat split; lra.
Qed.

Theorem z_renormalisation_fails n f g : (2 <= n)%nat ->
  let Z := overlap n (softmax n f) (softmax n g) in
  sum n (fun j => softmax n f j * softmax n g j * Z) < 1.
Proof.
  intros Hn Z; assert (h := z_overlap_open n f g Hn); fold Z in h.
  rewrite sum_scal_r; fold (overlap n (softmax n f) (softmax n g)); fold Z; nra.
Qed.

Theorem z_reciprocal_overlap_fails n f g j : (2 <= n)%nat -> (j < n)%nat ->
  let Z := / overlap n (softmax n f) (softmax n g) in
  softmax n (fun z => f z + g z) j <> softmax n f j * softmax n g j / Z.
Proof.
  intros Hn Hj Z E; assert (h := z_overlap_open n f g Hn).
  rewrite theorem_1 in E by assumption.
  fold (overlap n (softmax n f) (softmax n g)) in E; unfold Z in E.
  set (o := overlap n (softmax n f) (softmax n g)) in *.
  assert (a : 0 < softmax n f j * softmax n g j)
    by (apply Rmult_lt_0_compat; apply softmax_pos; lia).
  unfold Rdiv in E; rewrite Rinv_inv in E; apply Rmult_eq_reg_l in E; [|lra].
  assert (o * / o = 1) by (apply Rinv_r; lra); rewrite E in *; nra.
Qed.

(* K.3, first bullet: a constant positional score has exp(I) = n and not 1. *)
Theorem z_one_iff_independent_fails n f c : (2 <= n)%nat ->
  partition n f * partition n (fun _ => c) / partition n (fun j => f j + c) = INR n /\ INR n <> 1.
Proof.
  intros Hn; split.
  - unfold partition.
    rewrite (sum_ext n (fun z => exp (f z + c)) (fun z => exp (f z) * exp c))
      by (intros; apply exp_plus).
    rewrite sum_scal_r, sum_const.
    assert (h := sum_exp_pos n f ltac:(lia)); assert (e := exp_pos c); field; lra.
  - apply (le_INR 2) in Hn; simpl in Hn; lra.
Qed.

(* K.2, first bullet: "maximal when the two distributions coincide" is refuted by f = (1, 0),
   g = (2, 0). *)
Theorem z_overlap_maximal_fails : exists n f g, (0 < n)%nat /\
  overlap n (softmax n f) (softmax n f) < overlap n (softmax n f) (softmax n g).
Proof.
  exists 2%nat, (fun z => 1 - INR z), (fun z => 2 * (1 - INR z)); split; [lia|].
  rewrite !(proj2 (z_sum 2 _ _ ltac:(lia))); unfold partition; simpl.
  assert (h := exp_increasing 0 1 Rlt_0_1); rewrite exp_0 in h; set (x := exp 1) in *.
  assert (x2 : exp 2 = x * x) by (unfold x; rewrite <- exp_plus; f_equal; ring).
  assert (x3 : exp 3 = x * (x * x)) by (rewrite <- x2; unfold x; rewrite <- exp_plus; f_equal; ring).
  replace (1 - 0 + (1 - 0)) with 2 by ring; replace (1 - 1 + (1 - 1)) with 0 by ring.
  replace (1 - 0 + 2 * (1 - 0)) with 3 by ring; replace (1 - 1 + 2 * (1 - 1)) with 0 by ring.
  replace (2 * (1 - 0)) with 2 by ring; replace (2 * (1 - 1)) with 0 by ring.
  replace (1 - 0) with 1 by ring; replace (1 - 1) with 0 by ring.
  rewrite exp_0, x2, x3, !Rplus_0_l; fold x; clearbody x.
  assert (a : 0 < x + 1) by lra; assert (b : 0 < x * x + 1) by nra.
  assert (c : 0 < (x + 1) * (x + 1)) by nra; assert (d : 0 < (x + 1) * (x * x + 1)) by nra.
  apply Rmult_lt_reg_r with ((x + 1) * ((x + 1) * (x * x + 1))); [apply Rmult_lt_0_compat; assumption|].
  replace ((x * x + 1) / ((x + 1) * (x + 1)) * ((x + 1) * ((x + 1) * (x * x + 1))))
    with ((x * x + 1) * (x * x + 1)) by (field; lra).
  replace ((x * (x * x) + 1) / ((x + 1) * (x * x + 1)) * ((x + 1) * ((x + 1) * (x * x + 1))))
    with ((x * (x * x) + 1) * (x + 1)) by (field; lra).
  assert (e : 0 < x * ((x - 1) * (x - 1))) by (apply Rmult_lt_0_compat; nra); nra.
Qed.
