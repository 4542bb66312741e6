/**
 * Measures a cost up to three times, until the least of each figure is within its budget: what else the machine does can
 * only add. Returns the figures that exceed their budgets each time, and all that was measured.
 */
export async function overBudgets<Cost extends Record<string, number>>(budgets: Cost, measure: () => Promise<Cost>) {
  const costs: Cost[] = []
  let over = Object.keys(budgets)
  while (over.length > 0 && costs.length < 3) {
    const cost = await measure()
    costs.push(cost)
    over = over.filter(name => (cost[name] as number) > (budgets[name] as number))
  }
  return { over, costs }
}
