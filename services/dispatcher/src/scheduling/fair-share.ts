/**
 * Returns whether a holder of `taken` places may take one more while `free` places are left: at most `weight` for each
 * free one. A single holder gets weight/(weight+1) of all places. Several holders share evenly, and a new one always finds
 * a free place.
 */
export function mayTake(taken: number, free: number, weight: number): boolean {
  return free > 0 && taken < weight * free
}
