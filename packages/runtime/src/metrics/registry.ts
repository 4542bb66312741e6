import { Registry } from 'prom-client'
import { measureNode } from './measure-node.ts'

export type { Registry }

/**
 * Opens the metrics of a process, those of Node among them. Its roles may add values to a metric of the same name.
 * @param service - The label `service` of Node's metrics.
 */
export function openRegistry(service: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  measureNode(registry)
  return registry
}
