import type { Sabotage } from '../subject.ts'
import {
  boasts,
  forgetsToRollBack,
  keepsSilent,
  locksAsAsked,
  locksEveryRow,
  stopsListening,
} from './row-calls.ts'
import {
  leavesTablesUnlocked,
  letsReadersThrough,
  locksInPlaceOfSharing,
  readsWithoutLock,
  sharesInPlaceOfLocking,
} from './row-modes.ts'
import { forgetsTables, locksTablesAsNamed } from './table-calls.ts'
import {
  keepsTimeouts,
  leavesTimeouts,
  refusesInPlaceOfWaiting,
  waitsForEver,
  waitsInPlaceOfRefusing,
  waitsInPlaceOfSkipping,
} from './row-waits.ts'

/** Mistakes that a library of row and table locks can make. At least one law notices each. */
export const rowDefects: readonly Sabotage[] = [
  readsWithoutLock,
  sharesInPlaceOfLocking,
  locksInPlaceOfSharing,
  waitsInPlaceOfSkipping,
  waitsInPlaceOfRefusing,
  refusesInPlaceOfWaiting,
  waitsForEver,
  leavesTimeouts,
  keepsTimeouts,
  locksEveryRow,
  locksAsAsked,
  keepsSilent,
  boasts,
  stopsListening,
  forgetsToRollBack,
  leavesTablesUnlocked,
  letsReadersThrough,
  locksTablesAsNamed,
  forgetsTables,
]
