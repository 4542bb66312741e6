import { parser } from '@prometheus-io/lezer-promql'

/** A series of an expression, and the labels that it selects by. */
export type Selector = { series: string; labels: string[] }

/** Returns the series of a PromQL expression. Throws when the expression is invalid. */
export function readPromql(expression: string): Selector[] {
  const selectors: Selector[] = []
  parser.parse(expression).iterate({
    enter({ type, from, to, node }) {
      if (type.isError) throw new Error(`Not PromQL at ${from}: ${expression}`)
      if (type.name !== 'VectorSelector') return
      const name = node.getChild('Identifier')
      const labels: string[] = []
      node.cursor().iterate(inner => {
        if (inner.type.name === 'LabelName') labels.push(expression.slice(inner.from, inner.to))
      })
      if (!name) throw new Error(`No name: ${expression.slice(from, to)}`)
      selectors.push({ series: expression.slice(name.from, name.to), labels })
    },
  })
  return selectors
}

/** Returns the labels that an expression groups by. */
export function groupingLabels(expression: string): string[] {
  const labels: string[] = []
  parser.parse(expression).iterate({
    enter({ type, from, to, node }) {
      if (type.name === 'LabelName' && node.parent?.type.name === 'GroupingLabels')
        labels.push(expression.slice(from, to))
    },
  })
  return labels
}
