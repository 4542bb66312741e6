import { parser } from '@prometheus-io/lezer-promql'

/** A series that an expression asks for, and the labels that it goes by. */
export type Selector = { series: string; labels: string[] }

/** Reads which series a PromQL expression asks for. Throws when it is none. */
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

/** The labels that an expression groups by. */
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
