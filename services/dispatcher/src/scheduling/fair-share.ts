/**
 * Returns how many more places a holder of `taken` places may take while `free` places are left: at most `weight` for each
 * free one. A single holder gets weight/(weight+1) of all places. Several holders share evenly.
 */
export function headroom(taken: number, free: number, weight: number): number {
  return Math.max(0, Math.ceil((weight * free - taken) / (weight + 1)))
}

export function mayTake(taken: number, free: number, weight: number): boolean {
  return headroom(taken, free, weight) > 0
}

/**
 * Returns how many more of `places` an account may take. A tenth of the places is reserved: half of it for accounts
 * without a place, the other half for accounts with few. So any number of accounts together leave places for a new one.
 * @param held - What counts for the reserve. Default: `taken`.
 */
export function accountHeadroom(taken: number, free: number, places: number, held = taken): number {
  const reserved = Math.floor(places / 10)
  // An account may take one more while more places are free than `reserved`, or than half of that plus what it holds.
  const ofFew = Math.ceil((free + 2 - Math.floor(reserved / 2) - held) / 2) - 1
  const share = Math.min(headroom(taken, free, accountWeight), Math.max(free - reserved, ofFew))
  return Math.max(share, held === 0 ? Math.min(free, 1) : 0)
}

/** An account alone gets nine tenths. */
const accountWeight = 9
/** Of the places of its account an organization alone gets 29 of 30, and so does a workspace of its organization's. */
export const innerWeight = 29
