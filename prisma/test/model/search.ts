import { canonicalText } from './canonical.ts'
import { brokenByState, brokenByStep, isOver, type Sentence } from './promise.ts'
import type { Rules } from './rules.ts'
import type { Question } from './scopes.ts'
import { initialState, type State } from './state.ts'
import { describe, isBoundToHappen, type Scope, type Verb, visitNext } from './steps.ts'

/** The result of a search. `trace` is the shortest way to the first violation, one step per line. */
export type Found = { states: number; violation: Sentence | null; trace: string[] }

type Edges = { from: number[]; to: number[] }

/**
 * Visits every state that the rules allow, breadth first, and stops at the first step or state that breaks the promise. So
 * no shorter way leads to a violation.
 * @param only - The only violation to look for. Default: any.
 * @param onState - Called with each state in the order of the search. Without it, the search also looks for states from
 * which a task can never end although no more faults happen. It does so for a target that answers 2xx in the end, and for
 * one which always fails.
 */
export function search(
  { rules, scope, faults }: Question,
  only: Sentence | null = null,
  onState: (state: State) => void = () => {},
): Found {
  const first = initialState(faults, scope)
  const states: State[] = [first]
  const parents: number[] = [-1]
  const numbers = new Map<string, number>([[canonicalText(first), 0]])
  const answered: Edges = { from: [], to: [] }
  const failing: Edges = { from: [], to: [] }
  let violation: Sentence | null = null
  const reported = (broken: Sentence | null) => (only !== null && broken !== only ? null : broken)

  for (let at = 0; at < states.length; at++) {
    const state = states[at] as State
    onState(state)
    let last: { verb: Verb; who: number; task: number } | null = null
    visitNext(rules, scope, state, (verb, who, task, next) => {
      if (violation) return
      const text = canonicalText(next)
      const known = numbers.get(text)
      const number = known ?? states.length
      violation = reported(brokenByStep(state, verb, who, task, next))
      if (known === undefined) {
        violation ??= reported(brokenByState(next))
        numbers.set(text, number)
        states.push(next)
        parents.push(at)
      }
      if (violation) last = { verb, who, task }
      if (!isBoundToHappen(verb) || number === at) return
      if (verb !== 'fail') add(answered, at, number)
      if (verb !== 'succeed') add(failing, at, number)
    })
    if (violation && last) {
      const { verb, who, task } = last
      return {
        states: states.length,
        violation,
        trace: [...traceTo(rules, scope, states, parents, at), describe(verb, who, task)],
      }
    }
  }
  const stuck = [answered, failing].map(edges => findStuck(states, edges)).find(found => found !== null)
  if (stuck === undefined || stuck === null || reported('a task can never end') === null)
    return { states: states.length, violation: null, trace: [] }
  return {
    states: states.length,
    violation: 'a task can never end',
    trace: traceTo(rules, scope, states, parents, stuck),
  }
}

function add(edges: Edges, from: number, to: number): void {
  edges.from.push(from)
  edges.to.push(to)
}

// Goes backwards from all states in which everything has ended. Returns the first state that is not reached.
function findStuck(states: readonly State[], { from, to }: Edges): number | null {
  const starts = new Int32Array(states.length + 1)
  for (const number of to) (starts[number + 1] as number)++
  for (let i = 0; i < states.length; i++) (starts[i + 1] as number) += starts[i] as number
  const sources = new Int32Array(from.length)
  const filled = starts.slice()
  for (let i = 0; i < from.length; i++) {
    const place = filled[to[i] as number] as number
    sources[place] = from[i] as number
    filled[to[i] as number] = place + 1
  }
  const reached = new Uint8Array(states.length)
  const queue = states.flatMap((state, number) => (isOver(state) ? [number] : []))
  for (const number of queue) reached[number] = 1
  for (let at = 0; at < queue.length; at++) {
    const number = queue[at] as number
    for (let i = starts[number] as number; i < (starts[number + 1] as number); i++) {
      const source = sources[i] as number
      if (reached[source]) continue
      reached[source] = 1
      queue.push(source)
    }
  }
  const stuck = reached.indexOf(0)
  return stuck === -1 ? null : stuck
}

function traceTo(
  rules: Rules,
  scope: Scope,
  states: readonly State[],
  parents: readonly number[],
  end: number,
): string[] {
  const steps: string[] = []
  for (let at = end; parents[at] !== -1; at = parents[at] as number) {
    const wanted = canonicalText(states[at] as State)
    let line = ''
    visitNext(rules, scope, states[parents[at] as number] as State, (verb, who, task, next) => {
      if (line === '' && canonicalText(next) === wanted) line = describe(verb, who, task)
    })
    steps.unshift(line)
  }
  return steps
}
