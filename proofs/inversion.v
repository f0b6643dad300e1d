(* Inverting a distribution function with words (src/pathveil/gate/geometric.py): what a word
   decides is what the whole uniform number would decide, and only a tie is undecided.

   U is the uniform real, `word` its first bits; F is a value of the distribution function, `floor`
   its first bits, which intervals.v certifies. *)

Require Import ZArith Reals Lra Lia List.
Require Import intervals.
Import ListNotations.
Open Scope R_scope.

Definition first_bits (f : Z) (x : R) (bits : Z) : Prop := IZR f <= x * unit bits < IZR f + 1.

Lemma word_above : forall F U floor word bits,
  (0 <= bits)%Z -> first_bits floor F bits -> first_bits word U bits ->
  (floor < word)%Z -> F <= U.
Proof.
  unfold first_bits. intros F U floor word bits Hb [F1 F2] [U1 U2] H.
  pose proof (unit_positive bits Hb). apply Zlt_le_succ, IZR_le in H. rewrite succ_IZR in H.
  apply Rmult_le_reg_r with (unit bits); lra.
Qed.

Lemma word_below : forall F U floor word bits,
  (0 <= bits)%Z -> first_bits floor F bits -> first_bits word U bits ->
  (word < floor)%Z -> U < F.
Proof.
  unfold first_bits. intros F U floor word bits Hb [F1 F2] [U1 U2] H.
  pose proof (unit_positive bits Hb). apply Zlt_le_succ, IZR_le in H. rewrite succ_IZR in H.
  apply Rmult_lt_reg_r with (unit bits); lra.
Qed.

Definition below (U : R) (F : R) : bool := if Rle_dec F U then true else false.

(* A word that is no threshold gives the digit of U: as many thresholds lie below the word as values
   of the distribution function lie at or below U. *)
Theorem a_word_decides : forall Fs floors U word bits,
  (0 <= bits)%Z ->
  Forall2 (fun F floor => first_bits floor F bits) Fs floors -> first_bits word U bits ->
  ~ In word floors ->
  length (filter (fun floor => Z.ltb floor word) floors) = length (filter (below U) Fs).
Proof.
  intros Fs floors U word bits Hb H HU. induction H as [|F floor Fs floors HF H IH]; intros N.
  - reflexivity.
  - assert (IH' := IH (fun I => N (or_intror I))). simpl.
    assert (D : floor <> word) by (intros E; apply N; left; exact E).
    unfold below at 1. destruct (Z.ltb_spec floor word) as [L|L]; destruct (Rle_dec F U) as [R|R].
    + simpl. rewrite IH'. reflexivity.
    + exfalso. apply R. exact (word_above F U floor word bits Hb HF HU L).
    + exfalso. assert (M : (word < floor)%Z) by lia.
      pose proof (word_below F U floor word bits Hb HF HU M). lra.
    + exact IH'.
Qed.

(* More words only refine: the first bits of the first bits are the first bits. *)
Theorem more_words_refine : forall x longer bits more,
  (0 <= bits)%Z -> (0 <= more)%Z ->
  first_bits longer x (bits + more) -> first_bits (Z.shiftr longer more) x bits.
Proof.
  unfold first_bits, unit. intros x longer bits more Hb Hm [H1 H2].
  rewrite Z.shiftr_div_pow2 by lia. rewrite Z.pow_add_r, mult_IZR in * by lia.
  assert (P : (0 < 2 ^ more)%Z) by (apply Z.pow_pos_nonneg; lia).
  pose proof (div_down longer (2 ^ more) P) as D.
  assert (A : IZR longer + 1 <= (IZR (longer / 2 ^ more) + 1) * IZR (2 ^ more)).
  { rewrite <- !plus_IZR, <- mult_IZR. apply IZR_le.
    pose proof (Z.mul_succ_div_gt longer (2 ^ more) P). nia. }
  apply IZR_lt in P.
  split; [apply Rmult_le_reg_r with (IZR (2 ^ more)) | apply Rmult_lt_reg_r with (IZR (2 ^ more))];
    lra.
Qed.
