(* The interval arithmetic of src/pathveil/core/intervals.py encloses, for every number of bits.

   Each function below is the Python one, operator by operator: Python's // and >> on integers round
   down, as Z.div and Z.shiftr do. tests/unit/test_mechanised_proofs.py has coqc compute them and
   compares with the results of the Python code. *)

Require Import ZArith Reals Lra Lia Psatz.
Open Scope Z_scope.

Definition one (bits : Z) : Z := Z.shiftl 1 bits.

Definition mul_low (l m bits : Z) : Z := Z.shiftr (l * m) bits.
Definition mul_high (h k bits : Z) : Z := - Z.shiftr (- h * k) bits.

Definition div_low (l k bits : Z) : Z := Z.shiftl l bits / k.
Definition div_high (h m bits : Z) : Z := - (Z.shiftl (- h) bits / m).

Definition complement_low (h bits : Z) : Z := Z.max (one bits - h) 0.
Definition complement_high (l bits : Z) : Z := Z.max (one bits - l) 0.

Definition scaled_floor (l h bits words : Z) : option Z :=
  let low := Z.shiftr l (bits - words) in
  let high := Z.shiftr h (bits - words) in
  if low =? high then Some low else None.

(* One step of the series of exp_minus: (term_low, term_high) * n / (d * step). *)
Definition term_low (t n d step : Z) : Z := t * n / (d * step).
Definition term_high (t n d step : Z) : Z := - (- t * n / (d * step)).

Open Scope R_scope.

Definition unit (bits : Z) : R := IZR (2 ^ bits).

(* x lies in [low, high] / 2^bits. *)
Definition encloses (low high bits : Z) (x : R) : Prop :=
  IZR low <= x * unit bits <= IZR high.

Lemma unit_positive : forall bits, (0 <= bits)%Z -> 0 < unit bits.
Proof. intros. unfold unit. apply IZR_lt. apply Z.pow_pos_nonneg; lia. Qed.

(* Rounding down and up, as reals. *)
Lemma div_down : forall a b : Z, (0 < b)%Z -> IZR (a / b) * IZR b <= IZR a.
Proof.
  intros. rewrite <- mult_IZR. apply IZR_le. rewrite Z.mul_comm. apply Z.mul_div_le. lia.
Qed.

Lemma div_up : forall a b : Z, (0 < b)%Z -> IZR a <= IZR (- (- a / b)) * IZR b.
Proof.
  intros. rewrite <- mult_IZR. apply IZR_le.
  pose proof (Z.mul_div_le (- a) b H). nia.
Qed.

Lemma div_above : forall a b : Z, (0 < b)%Z -> IZR a < (IZR (a / b) + 1) * IZR b.
Proof.
  intros. rewrite <- plus_IZR, <- mult_IZR. apply IZR_lt.
  pose proof (Z.mul_succ_div_gt a b H). nia.
Qed.

Theorem add_encloses : forall l h m k bits x y,
  encloses l h bits x -> encloses m k bits y ->
  encloses (l + m) (h + k) bits (x + y).
Proof. unfold encloses. intros. rewrite !plus_IZR. lra. Qed.

Theorem mul_encloses : forall l h m k bits x y,
  (0 <= bits)%Z -> (0 <= l)%Z -> (0 <= m)%Z ->
  encloses l h bits x -> encloses m k bits y ->
  encloses (mul_low l m bits) (mul_high h k bits) bits (x * y).
Proof.
  unfold encloses, mul_low, mul_high. intros l h m k bits x y Hb Hl Hm [Hx1 Hx2] [Hy1 Hy2].
  rewrite !Z.shiftr_div_pow2 by lia.
  assert (Hu : (0 < 2 ^ bits)%Z) by (apply Z.pow_pos_nonneg; lia).
  pose proof (unit_positive bits Hb) as HU. unfold unit in *.
  pose proof (div_down (l * m) (2 ^ bits) Hu) as D. rewrite mult_IZR in D.
  pose proof (div_up (h * k) (2 ^ bits) Hu) as U.
  replace (- (h * k))%Z with (- h * k)%Z in U by ring. rewrite mult_IZR in U.
  set (u := IZR (2 ^ bits)) in *.
  apply IZR_le in Hl. apply IZR_le in Hm.
  assert (IZR l * IZR m <= (x * u) * (y * u)) by (apply Rmult_le_compat; lra).
  assert ((x * u) * (y * u) <= IZR h * IZR k) by (apply Rmult_le_compat; lra).
  split; apply Rmult_le_reg_r with u; try lra; nra.
Qed.

Theorem div_encloses : forall l h m k bits x y,
  (0 <= bits)%Z -> (0 <= l)%Z -> (0 < m)%Z -> 
  encloses l h bits x -> encloses m k bits y ->
  encloses (div_low l k bits) (div_high h m bits) bits (x / y).
Proof.
  unfold encloses, div_low, div_high. intros l h m k bits x y Hb Hl Hm [Hx1 Hx2] [Hy1 Hy2].
  rewrite !Z.shiftl_mul_pow2 by lia.
  pose proof (unit_positive bits Hb) as HU. unfold unit in *.
  assert (HM : 0 < IZR m) by (apply IZR_lt; lia).
  apply IZR_le in Hl.
  assert (HK : (0 < k)%Z) by (apply lt_IZR; lra).
  pose proof (div_down (l * 2 ^ bits) k HK) as D. rewrite mult_IZR in D.
  pose proof (div_up (h * 2 ^ bits) m Hm) as U.
  replace (- (h * 2 ^ bits))%Z with (- h * 2 ^ bits)%Z in U by ring. rewrite mult_IZR in U.
  set (u := IZR (2 ^ bits)) in *.
  assert (HY : 0 < y) by (apply Rmult_lt_reg_r with u; lra).
  assert (HX : 0 <= x) by (apply Rmult_le_reg_r with u; lra).
  set (q := x / y). assert (Hq : q * y = x) by (unfold q; field; apply Rgt_not_eq; exact HY).
  assert (Hq0 : 0 <= q).
  { unfold q. apply Rmult_le_pos; [exact HX|]. left. apply Rinv_0_lt_compat. exact HY. }
  assert (HKR : 0 < IZR k) by (apply IZR_lt; lia).
  split.
  - apply Rmult_le_reg_r with (IZR k); [lra|]. 
    assert (IZR l * u <= q * y * u * u) by (rewrite Hq; nra).
    assert (q * u * (y * u) <= q * u * IZR k) by (apply Rmult_le_compat_l; nra). nra.
  - apply Rmult_le_reg_r with (IZR m); [lra|].
    assert (q * y * u * u <= IZR h * u) by (rewrite Hq; nra).
    assert (q * u * IZR m <= q * u * (y * u)) by (apply Rmult_le_compat_l; nra). nra.
Qed.

Theorem complement_encloses : forall l h bits x,
  (0 <= bits)%Z -> x <= 1 ->
  encloses l h bits x ->
  encloses (complement_low h bits) (complement_high l bits) bits (1 - x).
Proof.
  unfold encloses, complement_low, complement_high, one. intros l h bits x Hb H1 [Hx1 Hx2].
  rewrite !Z.shiftl_mul_pow2, !Z.mul_1_l by lia.
  pose proof (unit_positive bits Hb) as HU. unfold unit in *.
  assert (0 <= (1 - x) * IZR (2 ^ bits)) by nra.
  split; apply Z.max_case_strong; intros M; apply IZR_le in M; rewrite ?minus_IZR in *; lra.
Qed.

(* What scaled_floor says is the floor: the integer f with f <= x * 2^words < f + 1. *)
Theorem scaled_floor_is_the_floor : forall l h bits words x f,
  (0 <= words <= bits)%Z ->
  encloses l h bits x -> scaled_floor l h bits words = Some f ->
  IZR f <= x * unit words < IZR f + 1.
Proof.
  unfold encloses, scaled_floor. intros l h bits words x f Hw [Hx1 Hx2] Hs.
  destruct (Z.shiftr l (bits - words) =? Z.shiftr h (bits - words))%Z eqn:E; [|discriminate].
  injection Hs as Hf. apply Z.eqb_eq in E.
  rewrite !Z.shiftr_div_pow2 in * by lia.
  set (s := (2 ^ (bits - words))%Z) in *.
  assert (Hs0 : (0 < s)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (Hunit : unit bits = unit words * IZR s).
  { unfold unit, s. rewrite <- mult_IZR, <- Z.pow_add_r by lia. do 2 f_equal. lia. }
  rewrite Hunit in *.
  pose proof (div_down l s Hs0) as D. pose proof (div_above h s Hs0) as A.
  rewrite <- E in A. rewrite Hf in *.
  apply IZR_lt in Hs0. 
  split; [apply Rmult_le_reg_r with (IZR s) | apply Rmult_lt_reg_r with (IZR s)]; lra.
Qed.

(* The terms of the series: y = n/d, t_k = y^k/k!, and term_low, term_high hold t_k. *)
Theorem term_encloses : forall l h bits n d step t,
  (0 <= n)%Z -> (0 < d)%Z -> (0 < step)%Z ->
  encloses l h bits t ->
  encloses (term_low l n d step) (term_high h n d step) bits (t * (IZR n / IZR d) / IZR step).
Proof.
  unfold encloses, term_low, term_high. intros l h bits n d step t Hn Hd Hs [H1 H2].
  assert (Hds : (0 < d * step)%Z) by lia.
  pose proof (div_down (l * n) (d * step) Hds) as D.
  pose proof (div_up (h * n) (d * step) Hds) as U.
  replace (- (h * n))%Z with (- h * n)%Z in U by ring.
  rewrite !mult_IZR in *.
  apply IZR_le in Hn. apply IZR_lt in Hd. apply IZR_lt in Hs.
  set (N := IZR n) in *. set (Dn := IZR d) in *. set (S := IZR step) in *.
  assert (E : t * (N / Dn) / S * unit bits * (Dn * S) = t * unit bits * N) by (field; lra).
  assert (0 < Dn * S) by nra.
  split; apply Rmult_le_reg_r with (Dn * S); try lra; rewrite E; nra.
Qed.
