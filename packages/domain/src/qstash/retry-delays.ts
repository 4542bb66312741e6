import { AppError } from '../app-error.ts'

const dayMs = 86_400_000
const maxDelayMs = 30 * dayMs

/**
 * Returns the delay before each retry of a message, in milliseconds. It evaluates the expression for each retry now, so only
 * the delays have to be stored.
 * @throws AppError `bad_request` for an expression that QStash does not have.
 * @param expression - Milliseconds for `retried` (0 before the first retry). Default: e^2.5n seconds, at most a day.
 */
export function retryDelays(retries: number, expression: string | undefined): number[] {
  if (expression === undefined)
    return numbers(retries).map(n => Math.min(dayMs, Math.floor(Math.exp(2.5 * (n + 1))) * 1000))
  const evaluate = compile(expression)
  return numbers(retries).map(retried => {
    const ms = Math.round(evaluate(retried))
    if (Number.isFinite(ms)) return Math.min(Math.max(0, ms), maxDelayMs)
    throw invalid(expression, `it has no value for retried=${retried}`)
  })
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

type Evaluate = (retried: number) => number

/** The functions of `Math` that an expression may call, and how many values each takes; null: any number. */
const arities = { pow: 2, sqrt: 1, abs: 1, exp: 1, floor: 1, ceil: 1, round: 1, min: null, max: null }

type FunctionName = keyof typeof arities

function isFunction(name: string): name is FunctionName {
  return Object.hasOwn(arities, name)
}

const maxLength = 300
const maxDepth = 30

/** Parses an expression by recursive descent. */
function compile(expression: string): Evaluate {
  if (expression.length > maxLength) throw invalid(expression.slice(0, 20), `it has more than ${maxLength} characters`)
  const tokens = expression.match(/\d+(?:\.\d+)?|\.\d+|[A-Za-z]+|\S/g) ?? []
  let at = 0
  let depth = 0

  const takes = (token: string) => tokens[at] === token && ++at > 0

  function sum(): Evaluate {
    if (++depth > maxDepth) throw invalid(expression, 'it is nested too deeply')
    let left = product()
    for (;;) {
      const [one, sign] = [left, takes('+') ? 1 : takes('-') ? -1 : 0]
      if (sign === 0) break
      const other = product()
      left = retried => one(retried) + sign * other(retried)
    }
    depth--
    return left
  }

  function product(): Evaluate {
    let left = signed()
    for (;;) {
      const one = left
      const operator = ['*', '/', '%'].find(takes)
      if (operator === undefined) return left
      const other = signed()
      left = retried => operate(operator, one(retried), other(retried))
    }
  }

  function signed(): Evaluate {
    if (!takes('-')) return value()
    if (++depth > maxDepth) throw invalid(expression, 'it is nested too deeply')
    const operand = signed()
    depth--
    return retried => -operand(retried)
  }

  function value(): Evaluate {
    const token = tokens[at++]
    if (token === undefined) throw invalid(expression, 'it ends too early')
    if (/^[\d.]/.test(token) && token !== '.') return () => Number(token)
    if (token === 'retried') return retried => retried
    if (token === '(') {
      const inner = sum()
      if (!takes(')')) throw invalid(expression, 'a parenthesis is not closed')
      return inner
    }
    if (isFunction(token)) return call(token)
    throw invalid(expression, `"${token}" is not a number, retried or a function`)
  }

  function call(name: FunctionName): Evaluate {
    const arity = arities[name]
    const run: (...values: number[]) => number = Math[name]
    if (!takes('(')) throw invalid(expression, `${name} needs parentheses`)
    const operands = [sum()]
    while (takes(',')) operands.push(sum())
    if (!takes(')')) throw invalid(expression, 'a parenthesis is not closed')
    if (arity !== null && operands.length !== arity) throw invalid(expression, `${name} needs ${arity} values`)
    return retried => run(...operands.map(operand => operand(retried)))
  }

  const evaluate = sum()
  if (at < tokens.length) throw invalid(expression, `"${tokens[at]}" is not expected there`)
  return evaluate
}

function operate(operator: string, left: number, right: number): number {
  return operator === '*' ? left * right : operator === '/' ? left / right : left % right
}

function invalid(expression: string, reason: string): AppError {
  return new AppError('bad_request', `invalid Upstash-Retry-Delay "${expression}": ${reason}`)
}
