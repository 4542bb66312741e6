import type { Figure } from '../benchmarks/benchmark.ts'
import { isMet } from './headline.ts'

/** A figure as the cells of a table's row. */
export type FigureCells = {
  key: string
  value: string
  spread: string
  demanded: string
  verdict: string
  title: string
}

export function cellsOf(figure: Figure): FigureCells {
  const unit = figure.unit ? ` ${figure.unit}` : ''
  const met = isMet(figure)
  return {
    key: figure.key,
    value: `${shortNumber(figure.value)}${unit}`,
    spread: `${shortNumber(figure.min)} - ${shortNumber(figure.max)}`,
    demanded: demandOf(figure),
    verdict: met === null ? '' : met ? 'pass' : 'FAIL',
    title: figure.title,
  }
}

function demandOf({ limit }: Figure): string {
  if (!limit) return ''
  const demanded = 'atLeast' in limit ? `>= ${limit.atLeast}` : `<= ${limit.atMost}`
  return limit.aim === undefined ? demanded : `${demanded}, aim ${limit.aim}`
}

/** Three digits are more than a benchmark knows. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return '-'
  if (Math.abs(value) >= 100) return Math.round(value).toString()
  return Number(value.toPrecision(3)).toString()
}
