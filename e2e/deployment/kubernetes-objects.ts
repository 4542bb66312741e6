import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
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

/** Builds a kustomization: `base`, an overlay such as `overlays/trial`, or another folder. */
export async function buildKustomization(path: string): Promise<KubernetesObject[]> {
  const folder = resolve(repositoryRoot(), 'k8s', path)
  const { stdout, stderr } = await promisify(execFile)('kubectl', ['kustomize', folder])
  if (stderr !== '') throw new Error(stderr)
  return parseAllDocuments(stdout).map(document => document.toJS())
}

/** Renders the chart as the release `belfry` in the namespace `belfry`; rejects values that its schema does not allow. */
export async function renderChart(valuesFile: string, release = 'belfry'): Promise<KubernetesObject[]> {
  const chart = join(repositoryRoot(), 'k8s/chart')
  const target = ['--namespace', 'belfry', '--kube-version', kubernetesVersion]
  const { stdout } = await promisify(execFile)('helm', ['template', release, chart, ...target, '--values', valuesFile])
  return parseAllDocuments(stdout).flatMap(document => document.toJS() ?? [])
}

/**
 * Returns the problems of an object by the schema of its kind, of Kubernetes or of an operator. The schemas allow unknown fields, which Kubernetes would drop
 * or reject, so every field that the validation does not read counts as unknown.
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
