import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { documentedVariables } from '@belfry/test-support'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../repository-root.ts'
import {
  findProblems,
  type KubernetesObject,
  kubernetesVersion,
  manifestSets,
  parseObjects,
  readManifest,
  renderChart,
  selects,
} from './kubernetes-objects.ts'
import { hasGoTool } from './tools.ts'

const folder = join(repositoryRoot(), 'k8s/chart')
const services = ['api', 'scheduler', 'dispatcher']
const valuesFile = (name: string) => join(folder, 'ci', `${name}-values.yaml`)
const valueSets = readdirSync(join(folder, 'ci')).map(name => name.replace('-values.yaml', ''))

describe.runIf(hasGoTool('helm', ['version']))('the chart', () => {
  it('has value sets for each way of scaling, for a trial, for operators, for a small cluster and for everything', () => {
    expect(valueSets.sort()).toEqual(['default', 'everything', 'hpa', 'keda', 'operators', 'small', 'trial'])
  })

  describe.each(valueSets)('with the values %s', set => {
    let objects: KubernetesObject[]
    const ofKind = (kind: string) => objects.filter(object => object.kind === kind)
    const workloads = () => ['Deployment', 'Job', 'StatefulSet'].flatMap(ofKind)
    const processes = () => ['Deployment', 'Job'].flatMap(ofKind)
    beforeAll(async () => {
      objects = parseObjects(await renderChart(valuesFile(set)))
    })

    it('passes the strict linter of Helm', () => {
      const options = ['--strict', '--kube-version', kubernetesVersion, '--values', valuesFile(set)]
      const output = execFileSync('helm', ['lint', folder, ...options], { encoding: 'utf8' })
      expect(output).toContain('1 chart(s) linted, 0 chart(s) failed')
    })

    it('is valid by the schemas of Kubernetes and of the operators, in every field', () => {
      expect(objects.flatMap(object => findProblems(object).map(problem => [object.metadata.name, problem]))).toEqual(
        [],
      )
    })

    it('names every object after its release, once, in the namespace of the release', () => {
      for (const { metadata } of objects) expect([metadata.name, metadata.namespace]).toEqual([metadata.name, 'belfry'])
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      expect(names.filter(name => !/ belfry\b/.test(name))).toEqual([])
      expect(new Set(names).size).toBe(names.length)
    })

    it('runs the three services after the migration, without privileges', () => {
      expect(processes().map(({ metadata }) => metadata.name)).toEqual([
        ...['belfry-api', 'belfry-dispatcher', 'belfry-scheduler', 'belfry-migrate-1'],
      ])
      for (const workload of workloads()) {
        const pod = workload.spec.template.spec
        expect(pod).toMatchObject({
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        })
        for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
          expect(container.securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          })
        }
      }
    })

    it('gives every process only the variables that it knows, and all that it needs', () => {
      for (const workload of processes()) {
        const name = workload.spec.template.metadata.labels['app.kubernetes.io/component']
        const [container] = workload.spec.template.spec.containers
        const maps = (container.envFrom ?? []).map(({ configMapRef }: KubernetesObject) => configMapRef.name)
        const configured = maps.flatMap((map: string) =>
          Object.keys(ofKind('ConfigMap').find(({ metadata }) => metadata.name === map).data),
        )
        const given = [...container.env.map((variable: KubernetesObject) => variable.name), ...configured]
        const documented = documentedVariables(name)
        const known = documented.map(variable => variable.name)
        expect(given.filter(variable => !known.includes(variable))).toEqual([])
        const required = documented.filter(
          variable => variable.isRequired && !(name === 'migrate' && variable.name !== 'DATABASE_URL'),
        )
        expect(given).toEqual(expect.arrayContaining(required.map(variable => variable.name)))
      }
    })

    it('gives each service its own database role, and the owner to the migration only', () => {
      const refOf = (container: KubernetesObject, name: string) =>
        container.env.find((variable: KubernetesObject) => variable.name === name).valueFrom.secretKeyRef
      const [migration] = ofKind('Job')[0].spec.template.spec.containers
      const owner = refOf(migration, 'DATABASE_URL')
      for (const { metadata, spec } of ofKind('Deployment')) {
        const name = metadata.labels['app.kubernetes.io/component']
        const { initContainers, containers } = spec.template.spec
        for (const container of [...initContainers, ...containers]) {
          expect(refOf(container, 'DATABASE_URL')).not.toEqual(owner)
          expect(refOf(migration, `${name.toUpperCase()}_DATABASE_URL`)).toEqual(refOf(container, 'DATABASE_URL'))
        }
      }
    })

    it('selects existing pods with every selector', () => {
      const pods = workloads().map(({ spec }) => spec.template.metadata.labels)
      const selectors = [
        ...ofKind('Service').map(({ spec }) => ({ matchLabels: spec.selector })),
        ...['NetworkPolicy', 'Deployment', 'PodDisruptionBudget'].flatMap(kind =>
          ofKind(kind).map(({ spec }) => spec.podSelector ?? spec.selector),
        ),
      ]
      expect(selectors.length).toBeGreaterThanOrEqual(6)
      for (const selector of selectors)
        expect([selector, pods.some(pod => selects(selector, pod))]).toEqual([selector, true])
      for (const { spec } of ofKind('ServiceMonitor')) {
        const selected = ofKind('Service').filter(({ metadata }) => selects(spec.selector, metadata.labels))
        expect(selected.map(({ metadata }) => metadata.name)).toEqual(services.map(name => `belfry-${name}`).sort())
      }
    })

    it('scales each service by one object', () => {
      for (const name of services) {
        const { replicas } = ofKind('Deployment').find(({ metadata }) => metadata.name === `belfry-${name}`).spec
        const scalers = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')].filter(
          ({ spec }) => spec.scaleTargetRef.name === `belfry-${name}`,
        )
        expect([name, scalers.length]).toEqual([name, replicas === undefined ? 1 : 0])
      }
    })
  })

  // Vitest writes a changed file with `npm test -- e2e/deployment/chart.long.ts --update`.
  it.each(manifestSets)('renders k8s/manifests/%s.yaml', async set => {
    const head = `# What \`helm template\` renders from k8s/chart with k8s/chart/ci/${set}-values.yaml: see k8s/README.md.`
    await expect(`${head}\n${await renderChart(valuesFile(set))}`).toMatchFileSnapshot(
      join(folder, '../manifests', `${set}.yaml`),
    )
  })

  it.each([
    ['belfry', 'belfry-api'],
    ['belfry', 'shop'],
    ['my.belfry', 'mylbelfry'],
  ])('scales the releases %s and %s of one namespace by their own metrics only', async (one, other) => {
    const releases = [
      { name: one, other },
      { name: other, other: one },
    ]
    const [pods, patterns] = [new Map<string, string[]>(), new Map<string, RegExp[]>()]
    for (const { name } of releases) {
      const objects = parseObjects(await renderChart(valuesFile('keda'), name))
      pods.set(name, podNames(objects))
      patterns.set(name, podPatterns(objects))
    }
    for (const { name, other } of releases) {
      for (const pattern of patterns.get(name) ?? []) {
        expect([pattern, pods.get(name)?.every(pod => pattern.test(pod))]).toEqual([pattern, true])
        expect([pattern, pods.get(other)?.some(pod => pattern.test(pod))]).toEqual([pattern, false])
      }
    }
  })

  it('adds the listeners of its values to those that no task may call', async () => {
    const objects = parseObjects(await renderChart(valuesFile('everything')))
    const { data } =
      objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'belfry-dispatcher') ?? {}
    expect(data.OWN_LISTENERS.split(',')).toEqual([
      ...['api', 'api', 'scheduler', 'dispatcher'].map(name => expect.stringContaining(`belfry-${name}.`)),
      'replica.example.org:5432',
    ])
  })

  it('leaves out what a small cluster does not have', async () => {
    const objects = parseObjects(await renderChart(valuesFile('small')))
    const kinds = new Set(objects.map(({ kind }) => kind))
    const optional = [
      'Ingress',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'ServiceMonitor',
      'ScaledObject',
      'StatefulSet',
    ]
    for (const kind of optional) {
      expect([kind, kinds.has(kind)]).toEqual([kind, false])
    }
    expect(JSON.stringify(objects)).not.toContain('REDIS_URL')
    const images = [...JSON.stringify(objects).matchAll(/"image":"([^"]+)"/g)].map(([, image]) => image)
    expect([...new Set(images)].sort()).toEqual(
      ['api', 'dispatcher', 'migrate', 'scheduler'].map(name => `registry.example.com/team/belfry-${name}:edge`),
    )
  })

  it('stores the data of its own PostgreSQL and Redis in volumes of the wanted class and size', async () => {
    const internal = (size: string) =>
      `{ type: internal, internal: { persistence: { storageClass: ssd, size: ${size} } } }`
    const file = writeValues(`database: ${internal('40Gi')}\nredis: ${internal('1Gi')}`)
    const sets = parseObjects(await renderChart(file)).filter(({ kind }) => kind === 'StatefulSet')
    const claims = sets.map(({ metadata, spec }) => [metadata.name, spec.volumeClaimTemplates[0].spec])
    const claim = (storage: string) => ({
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'ssd',
      resources: { requests: { storage } },
    })
    expect(claims).toEqual([
      ['belfry-postgres', claim('40Gi')],
      ['belfry-redis', claim('1Gi')],
    ])
  })

  it('uses the stores of the examples, whose objects are valid', async () => {
    const [cluster, ...others] = readManifest('examples/cloudnative-pg.yaml')
    const store = others.find(({ kind }) => kind === 'ObjectStore') // of the plugin, which publishes no schema
    const problems = [cluster, ...others].filter(object => object !== store).flatMap(findProblems)
    // CloudNativePG has this field since 1.26; the schemas are older.
    expect(problems).toEqual(['spec.plugins.0.isWALArchiver is not a field of Cluster'])
    const backup = others.find(({ kind }) => kind === 'ScheduledBackup')
    const [plugin] = cluster.spec.plugins
    expect([backup?.spec.cluster.name, backup?.spec.pluginConfiguration.name]).toEqual([
      cluster.metadata.name,
      plugin.name,
    ])
    expect(plugin.parameters.barmanObjectName).toBe(store?.metadata.name)
    const restored = readFileSync(join(repositoryRoot(), 'docs/backup-and-restore.md'), 'utf8')
    const origin = `barmanObjectName: ${store?.metadata.name}, serverName: ${cluster.metadata.name}`
    expect(restored).toContain(origin)
    const redis = readManifest('examples/redis-operator.yaml').find(({ kind }) => kind === 'Redis')
    const text = JSON.stringify(parseObjects(await renderChart(valuesFile('operators'))))
    // The operator names the Secret after the cluster.
    expect(text).toContain(`"secretKeyRef":{"name":"${cluster.metadata.name}-app","key":"uri"}`)
    expect(text).toContain(`"matchLabels":{"cnpg.io/cluster":"${cluster.metadata.name}"}`)
    expect(text).toContain(`"secretKeyRef":{"name":"${redis.spec.kubernetesConfig.redisSecret.name}","key":"url"}`)
    expect(text).toContain(`"matchLabels":{"app":"${redis.metadata.name}"}`)
  })

  it.each([
    ['an unknown value', 'replicas: 3', /replicas/],
    ['a variable that is no text', 'config: { api: { TRUST_PROXY: 1 } }', /TRUST_PROXY/],
    ['an unknown type of store', 'database: { type: managed }', /database.*type/],
    ['an unknown way of scaling', 'dispatcher: { autoscaling: { by: magic } }', /autoscaling.*by/],
    ['a registry without its slash', 'image: { registry: registry.example.com }', /registry/],
  ])('refuses %s', async (_, values, problem) => {
    await expect(renderChart(writeValues(values))).rejects.toThrow(problem)
  })

  it('has the version of the release', () => {
    const { version } = JSON.parse(readFileSync(join(repositoryRoot(), 'package.json'), 'utf8'))
    const chart = parse(readFileSync(join(folder, 'Chart.yaml'), 'utf8'))
    expect([chart.version, chart.appVersion]).toEqual([version, version])
  })
})

function writeValues(values: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'belfry-values-')), 'values.yaml')
  writeFileSync(file, values)
  return file
}

function podNames(objects: KubernetesObject[]): string[] {
  const deployments = objects.filter(({ kind }) => kind === 'Deployment')
  return deployments.map(({ metadata }) => `${metadata.name}-5d8c7b9f4-x2x7z`)
}

// A string of PromQL escapes as one of JSON, and its pattern matches the whole value.
function podPatterns(objects: KubernetesObject[]): RegExp[] {
  const { triggers } = objects.find(({ kind }) => kind === 'ScaledObject').spec
  const text = triggers.map(({ metadata }: KubernetesObject) => metadata.query).join(' ')
  const selectors = [...text.matchAll(/belfry_\w+\{namespace="belfry",pod=~("[^"]*")/g)]
  expect(selectors).toHaveLength(text.match(/belfry_\w+\{/g).length)
  return selectors.map(([, pattern = '""']) => new RegExp(`^(?:${JSON.parse(pattern)})$`))
}
