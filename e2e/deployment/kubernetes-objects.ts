import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { repositoryRoot } from '../repository-root.ts'

/** A Kubernetes object of any kind. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into objects whose shape the schemas check
export type KubernetesObject = any

const require = createRequire(import.meta.url)

/** The chart is rendered for this version. A helm built by `go install` assumes an older one than the chart needs. */
export const kubernetesVersion = '1.31.0'

const operatorModels: Record<string, string> = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
}

/** The files of values in `k8s/chart/ci` whose output `k8s/manifests` has, for users without Helm. */
export const manifestSets = ['default', 'hpa', 'keda', 'trial']

/** Returns the objects of a file in `k8s`. */
export function readManifest(path: string): KubernetesObject[] {
  return parseObjects(readFileSync(join(repositoryRoot(), 'k8s', path), 'utf8'))
}

/** Renders the chart as the release `belfry` in the namespace `belfry`; rejects values that its schema does not allow. */
export async function renderChart(valuesFile: string, release = 'belfry'): Promise<string> {
  const chart = join(repositoryRoot(), 'k8s/chart')
  const target = ['--namespace', 'belfry', '--kube-version', kubernetesVersion]
  const { stdout } = await promisify(execFile)('helm', ['template', release, chart, ...target, '--values', valuesFile])
  return stdout
}

/** Reads the documents of a YAML file, without empty ones. */
export function parseObjects(text: string): KubernetesObject[] {
  return parseAllDocuments(text).flatMap(document => document.toJS() ?? [])
}

type Selector = { matchLabels?: Record<string, string>; matchExpressions?: Array<{ key: string; values: string[] }> }

/** Returns whether a selector of Kubernetes matches these labels. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Record<string, string>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
  )
}

/**
 * Returns the problems of an object by the schema of its kind, of Kubernetes or of an operator. The schemas allow unknown
 * fields, which Kubernetes would drop or reject, so every field that the validation does not read counts as unknown.
 */
export function findProblems(object: KubernetesObject): string[] {
  const { apiVersion, kind } = object
  const models = operatorModels[apiVersion.split('/')[0]] ?? 'kubernetes-models'
  const model = require(`${models}/${apiVersion}/${kind}`)[kind]
  const seen = new Set<string>()
  try {
    model.prototype.validate.call(watch(object, '', seen))
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
  return unseen(object, '', seen).map(path => `${path.slice(1)} is not a field of ${kind}`)
}

function watch<T extends object>(target: T, path: string, seen: Set<string>): T {
  return new Proxy(target, {
    get(holder, key) {
      const value = Reflect.get(holder, key)
      const own = `${path}.${String(key)}`
      seen.add(own)
      return typeof value === 'object' && value !== null ? watch(value, own, seen) : value
    },
    // A schema that lists no properties allows any, such as labels.
    ownKeys(holder) {
      const keys = Reflect.ownKeys(holder)
      for (const key of keys) seen.add(`${path}.${String(key)}`)
      return keys
    },
  })
}

// The contents of an unknown field are not reported.
function unseen(value: unknown, path: string, seen: Set<string>): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = `${path}.${key}`
    return seen.has(own) ? unseen(inner, own, seen) : [own]
  })
}
