(* exp_minus of src/pathveil/core/intervals.py encloses e^(-x): the alternating series with every
   term rounded outward, stopped when a term is at most one unit, and then squared. *)

Require Import ZArith Reals Lra Lia Psatz.
Require Import intervals.
Open Scope R_scope.

(* t_k = y^k/k!, and the partial sums of t_0 - t_1 + t_2 - ... *)
Definition term (y : R) (k : nat) : R := y ^ k / INR (fact k).
Definition partial (y : R) (k : nat) : R := sum_f_R0 (tg_alt (term y)) k.

Lemma term_nonnegative : forall y k, 0 <= y -> 0 <= term y k.
Proof.
  intros. unfold term. apply Rmult_le_pos; [apply pow_le; lra|].
  left. apply Rinv_0_lt_compat, INR_fact_lt_0.
Qed.

Lemma term_next : forall y k, term y (S k) = term y k * y / INR (S k).
Proof.
  intros. unfold term. rewrite fact_simpl, mult_INR. simpl pow. field.
  split; [apply INR_fact_neq_0 | apply not_0_INR; lia].
Qed.

Lemma terms_fall : forall y, 0 <= y <= 1 -> Un_decreasing (term y).
Proof.
  intros y [H0 H1] k. rewrite term_next.
  pose proof (term_nonnegative y k H0) as P.
  assert (1 <= INR (S k)) by (rewrite S_INR; pose proof (pos_INR k); lra).
  apply Rmult_le_reg_r with (INR (S k)); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

Lemma series_of_exp : forall y, Un_cv (partial y) (exp (- y)).
Proof.
  intros y. unfold partial, exp. destruct (exist_exp (- y)) as [l Hl]. simpl.
  unfold exp_in, infinite_sum in Hl. intros e He. destruct (Hl e He) as [N HN].
  exists N. intros n Hn. specialize (HN n Hn).
  replace (sum_f_R0 (tg_alt (term y)) n)
    with (sum_f_R0 (fun i => / INR (fact i) * (- y) ^ i) n); [exact HN|].
  apply sum_eq. intros i _. unfold tg_alt, term.
  replace (- y) with (-1 * y) by ring. rewrite Rpow_mult_distr. field. apply INR_fact_neq_0.
Qed.

(* Stopping after any number of terms leaves less than the last one. *)
Lemma stopping_leaves_little : forall y k, 0 <= y <= 1 ->
  partial y k - term y k <= exp (- y) <= partial y k + term y k.
Proof.
  intros y k Hy.
  pose proof (terms_fall y Hy) as F.
  assert (Z0 : Un_cv (term y) 0) by apply cv_speed_pow_fact.
  pose proof (alternated_series_ineq (term y) (exp (- y))) as A.
  assert (P : forall i, 0 <= term y i) by (intros; apply term_nonnegative; lra).
  destruct (Nat.Even_or_Odd k) as [[m E]|[m E]]; subst k.
  - specialize (A m F Z0 (series_of_exp y)). fold (partial y (S (2 * m))) (partial y (2 * m)) in A.
    unfold partial in *. rewrite tech5 in A. unfold tg_alt at 2 in A.
    rewrite pow_1_odd in A. pose proof (F (2 * m)%nat). pose proof (P (2 * m)%nat). lra.
  - specialize (A m F Z0 (series_of_exp y)). replace (2 * m + 1)%nat with (S (2 * m)) by lia.
    unfold partial. rewrite tech5 in *. unfold tg_alt at 2 4. unfold tg_alt at 2 in A.
    rewrite pow_1_odd in *. pose proof (P (S (2 * m))). lra.
Qed.

(* The loop of exp_minus after k steps: ((low, high), (term_low, term_high)). *)
Fixpoint series (n d bits : Z) (k : nat) : (Z * Z) * (Z * Z) :=
  match k with
  | O => ((one bits, one bits), (one bits, one bits))
  | S k' =>
      let '((low, high), (tl, th)) := series n d bits k' in
      let tl' := intervals.term_low tl n d (Z.of_nat (S k')) in
      let th' := intervals.term_high th n d (Z.of_nat (S k')) in
      if Nat.odd (S k') then ((low - th', high - tl')%Z, (tl', th'))
      else ((low + tl', high + th')%Z, (tl', th'))
  end.

Lemma series_invariant : forall n d bits k low high tl th,
  (0 <= n)%Z -> (0 < d)%Z -> (0 <= bits)%Z ->
  series n d bits k = ((low, high), (tl, th)) ->
  encloses low high bits (partial (IZR n / IZR d) k) /\
  encloses tl th bits (term (IZR n / IZR d) k).
Proof.
  intros n d bits k. set (y := IZR n / IZR d).
  induction k as [|k IH]; intros low high tl th Hn Hd Hb E.
  - simpl in E. injection E as <- <- <- <-. unfold encloses, partial, term, tg_alt, unit, one.
    simpl. rewrite Z.shiftl_mul_pow2, Z.mul_1_l by lia. split; lra.
  - simpl in E. destruct (series n d bits k) as [[l h] [t u]].
    destruct (IH l h t u Hn Hd Hb eq_refl) as [IS IT].
    pose proof (term_encloses t u bits n d (Z.of_nat (S k)) _ Hn Hd ltac:(lia) IT) as T.
    replace (term y k * (IZR n / IZR d) / IZR (Z.of_nat (S k))) with (term y (S k)) in T
      by (rewrite term_next, <- INR_IZR_INZ; reflexivity).
    change (Z.of_nat (S k)) with (Z.pos (Pos.of_succ_nat k)) in T.
    assert (PS : partial y (S k) = partial y k + (-1) ^ S k * term y (S k))
      by (unfold partial; rewrite tech5; reflexivity).
    destruct (Nat.odd (S k)) eqn:O.
    + apply Nat.odd_spec in O. destruct O as [m Em].
      replace ((-1) ^ S k) with (-1) in PS
        by (rewrite Em, Nat.add_1_r; symmetry; apply pow_1_odd).
      injection E as <- <- <- <-. split; [|exact T].
      unfold encloses in *. rewrite PS, !minus_IZR. lra.
    + assert (V : Nat.Even (S k)).
      { destruct (Nat.Even_or_Odd (S k)) as [V|V]; [exact V|].
        apply Nat.odd_spec in V. congruence. }
      destruct V as [m Em].
      replace ((-1) ^ S k) with 1 in PS by (rewrite Em; symmetry; apply pow_1_even).
      injection E as <- <- <- <-. split; [|exact T].
      unfold encloses in *. rewrite PS, !plus_IZR. lra.
Qed.

(* What the loop returns when it ends. *)
Theorem series_encloses : forall n d bits k low high tl th,
  (0 <= n <= d)%Z -> (0 < d)%Z -> (0 <= bits)%Z ->
  series n d bits k = ((low, high), (tl, th)) -> (th <= 1)%Z ->
  encloses (Z.max (low - 1) 0) (high + 1) bits (exp (- (IZR n / IZR d))).
Proof.
  intros n d bits k low high tl th [Hn Hnd] Hd Hb E Stop.
  destruct (series_invariant n d bits k low high tl th Hn Hd Hb E) as [S T].
  set (y := IZR n / IZR d) in *.
  assert (Hy : 0 <= y <= 1).
  { apply IZR_le in Hn. apply IZR_le in Hnd. apply IZR_lt in Hd. unfold y. split.
    - apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
    - apply Rmult_le_reg_r with (IZR d); [lra|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l by lra. lra. }
  pose proof (stopping_leaves_little y k Hy) as L.
  pose proof (unit_positive bits Hb) as U. pose proof (exp_pos (- y)) as P.
  apply IZR_le in Stop. unfold encloses in *.
  rewrite plus_IZR. split; [apply Z.max_case_strong; intros _; rewrite ?minus_IZR|]; nra.
Qed.

(* Squaring undoes the halving of the argument. *)
Fixpoint squares (low high bits : Z) (doublings : nat) : Z * Z :=
  match doublings with
  | O => (low, high)
  | S k => squares (mul_low low low bits) (mul_high high high bits) bits k
  end.

Theorem squares_enclose : forall doublings low high bits x l h,
  (0 <= bits)%Z -> (0 <= low)%Z ->
  encloses low high bits (exp (- x)) -> squares low high bits doublings = (l, h) ->
  encloses l h bits (exp (- (x * 2 ^ doublings))).
Proof.
  induction doublings as [|k IH]; intros low high bits x l h Hb Hl E Q; simpl in Q.
  - injection Q as <- <-. simpl. rewrite Rmult_1_r. exact E.
  - replace (x * 2 ^ S k) with ((x + x) * 2 ^ k) by (simpl; ring).
    refine (IH _ _ bits (x + x) l h Hb _ _ Q).
    + unfold mul_low. rewrite Z.shiftr_div_pow2 by lia.
      apply Z.div_pos; [nia | apply Z.pow_pos_nonneg; lia].
    + replace (- (x + x)) with (- x + - x) by ring. rewrite exp_plus.
      apply mul_encloses; assumption.
Qed.

(* The whole function. `fuel` bounds the steps: the Python loop has no bound, and ends when a term is
   at most one unit. *)
Fixpoint stopped (n d bits : Z) (k fuel : nat) : option (Z * Z) :=
  match fuel with
  | O => None
  | S fuel' =>
      let '((low, high), (_, th)) := series n d bits k in
      if (th <=? 1)%Z then Some (Z.max (low - 1) 0, high + 1)%Z
      else stopped n d bits (S k) fuel'
  end.

Definition bit_length (n : Z) : Z := if (n =? 0)%Z then 0%Z else (Z.log2 n + 1)%Z.
Definition halvings (n d : Z) : Z := Z.max 0 (bit_length n - bit_length d + 2).

Definition exp_minus (n d bits : Z) (fuel : nat) : option (Z * Z) :=
  match stopped n (Z.shiftl d (halvings n d)) bits 0 fuel with
  | Some (low, high) => Some (squares low high bits (Z.to_nat (halvings n d)))
  | None => None
  end.

Lemma stopped_encloses : forall fuel k n d bits low high,
  (0 <= n <= d)%Z -> (0 < d)%Z -> (0 <= bits)%Z ->
  stopped n d bits k fuel = Some (low, high) ->
  (0 <= low)%Z /\ encloses low high bits (exp (- (IZR n / IZR d))).
Proof.
  induction fuel as [|fuel IH]; intros k n d bits low high Hn Hd Hb E; [discriminate|].
  cbn [stopped] in E. destruct (series n d bits k) as [[l h] [tl th]] eqn:S.
  destruct (Z.leb_spec th 1) as [L|L].
  - injection E as <- <-. split; [apply Z.le_max_r|]. eapply series_encloses; eassumption.
  - eapply IH; eassumption.
Qed.

Lemma halved_enough : forall n d, (0 <= n)%Z -> (0 < d)%Z ->
  (n <= Z.shiftl d (halvings n d))%Z.
Proof.
  intros n d Hn Hd. assert (Hh : (0 <= halvings n d)%Z) by apply Z.le_max_l.
  rewrite Z.shiftl_mul_pow2 by exact Hh.
  destruct (Z.eq_dec n 0) as [->|N].
  - apply Z.mul_nonneg_nonneg; [lia | apply Z.pow_nonneg; lia].
  - destruct (Z.log2_spec n ltac:(lia)) as [_ Ln]. destruct (Z.log2_spec d Hd) as [Ld _].
    assert (Hle : (Z.succ (Z.log2 n) <= Z.log2 d + halvings n d)%Z).
    { unfold halvings, bit_length.
      destruct (Z.eqb_spec n 0); [lia|]. destruct (Z.eqb_spec d 0); lia. }
    pose proof (Z.pow_le_mono_r 2 _ _ ltac:(lia) Hle) as P.
    rewrite Z.pow_add_r in P by (try apply Z.log2_nonneg; exact Hh).
    pose proof (Z.pow_nonneg 2 (halvings n d) ltac:(lia)). nia.
Qed.

Theorem exp_minus_encloses : forall n d bits fuel l h,
  (0 <= n)%Z -> (0 < d)%Z -> (0 <= bits)%Z ->
  exp_minus n d bits fuel = Some (l, h) ->
  encloses l h bits (exp (- (IZR n / IZR d))).
Proof.
  unfold exp_minus. intros n d bits fuel l h Hn Hd Hb E.
  assert (Hh : (0 <= halvings n d)%Z) by apply Z.le_max_l.
  pose proof (halved_enough n d Hn Hd) as Hle.
  assert (P : (0 < 2 ^ halvings n d)%Z) by (apply Z.pow_pos_nonneg; lia).
  rewrite Z.shiftl_mul_pow2 in * by exact Hh.
  destruct (stopped n (d * 2 ^ halvings n d) bits 0 fuel) as [[low high]|] eqn:S; [|discriminate].
  injection E as Q.
  destruct (stopped_encloses fuel 0 n (d * 2 ^ halvings n d) bits low high) as [L C];
    [lia | lia | exact Hb | exact S |].
  pose proof (squares_enclose _ low high bits _ l h Hb L C Q) as R.
  replace (IZR n / IZR (d * 2 ^ halvings n d) * 2 ^ Z.to_nat (halvings n d))
    with (IZR n / IZR d) in R; [exact R|].
  rewrite mult_IZR. replace (2 ^ Z.to_nat (halvings n d)) with (IZR (2 ^ halvings n d)).
  - apply IZR_lt in P. apply IZR_lt in Hd. field. split; apply Rgt_not_eq; assumption.
  - rewrite pow_IZR. f_equal. rewrite Z2Nat.id by exact Hh. reflexivity.
Qed.
