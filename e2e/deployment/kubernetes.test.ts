import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { documentedVariables } from '@belfry/test-support'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../repository-root.ts'
import {
  findProblems,
  type KubernetesObject,
  manifestSets,
  parseObjects,
  readManifest,
  selects,
} from './kubernetes-objects.ts'
import { readImages } from './read-dockerfile.ts'

const services = ['api', 'scheduler', 'dispatcher']
const drainSeconds = 30
const componentOf = (labels: Record<string, string>) => labels['app.kubernetes.io/component'] ?? ''
const execute = promisify(execFile)

describe('findProblems', () => {
  const policy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'x', labels: { any: 'y' } },
  }

  it('accepts a valid object', () => {
    expect(findProblems({ ...policy, spec: { podSelector: { matchLabels: { any: 'y' } } } })).toEqual([])
  })

  it('finds a wrong type, a missing field, and a misspelt field', () => {
    expect(findProblems({ ...policy, spec: { podSelector: {}, policyTypes: 'Egress' } })).not.toEqual([])
    expect(findProblems({ apiVersion: 'apps/v1', kind: 'Deployment', spec: { template: {} } })).not.toEqual([])
    expect(findProblems({ ...policy, spec: { podSelector: {}, policyType: ['Egress'] } })).toEqual([
      'spec.policyType is not a field of NetworkPolicy',
    ])
  })
})

it('k8s/manifests has a file for each of these sets of values', () => {
  const files = readdirSync(join(repositoryRoot(), 'k8s/manifests'))
  expect(files.sort()).toEqual(manifestSets.map(set => `${set}.yaml`))
})

describe.each(manifestSets)('k8s/manifests/%s.yaml', set => {
  const objects = readManifest(`manifests/${set}.yaml`)
  const ofKind = (kind: string) => objects.filter(object => object.kind === kind)
  const find = (kind: string, name: string) => ofKind(kind).find(object => object.metadata.name === name)
  const workloads = () => ['Deployment', 'StatefulSet', 'Job'].flatMap(ofKind)
  const containersOf = ({ spec }: KubernetesObject) => [
    ...(spec.template.spec.initContainers ?? []),
    ...spec.template.spec.containers,
  ]
  const named = (kind: string, component: string) => find(kind, `belfry-${component}`)

  it('is valid by the schemas of Kubernetes and KEDA, in every field', () => {
    expect(objects.flatMap(object => findProblems(object).map(problem => [object.metadata.name, problem]))).toEqual([])
  })

  it('is in one namespace, which admits only pods without privileges', () => {
    const [namespace] = readManifest('namespace.yaml')
    expect(findProblems(namespace)).toEqual([])
    expect(namespace.metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
    for (const object of objects) expect(object.metadata.namespace).toBe(namespace.metadata.name)
  })

  it('runs every container without privileges', () => {
    for (const workload of workloads()) {
      const pod = workload.spec.template.spec
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      expect(find('ServiceAccount', pod.serviceAccountName)).toMatchObject({ automountServiceAccountToken: false })
      for (const container of containersOf(workload)) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources.requests).toMatchObject({ cpu: expect.any(String), memory: expect.any(String) })
        expect(container.resources.limits).toEqual({ memory: expect.any(String) })
        expect(container.image).toMatch(/:v?\d+\.\d+/)
      }
    }
  })

  it.each(services)('runs the %s with probes, spread over nodes, with time to stop', name => {
    const deployment = named('Deployment', name)
    const pod = deployment.spec.template.spec
    const [container] = pod.containers
    const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map(probe => container[probe].httpGet.path)
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz'])
    const { PORT, METRICS_PORT } = readImages().get(name)?.env ?? {}
    const port = container.ports.find((one: KubernetesObject) => one.name === container.readinessProbe.httpGet.port)
    expect(String(port.containerPort)).toBe(name === 'api' ? PORT : METRICS_PORT)
    const [, pause = 0] = container.lifecycle?.preStop.exec.command ?? []
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + Number(pause))
    expect(pod.topologySpreadConstraints.map((spread: KubernetesObject) => spread.topologyKey)).toEqual([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ])
    expect(named('PodDisruptionBudget', name).spec).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: deployment.spec.selector,
    })
  })

  it('has at least two of each service, and one object that sets the number', () => {
    for (const name of services) {
      const { replicas } = named('Deployment', name).spec
      const scalers = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')]
      const [scaler, ...others] = scalers
        .filter(({ spec }) => spec.scaleTargetRef.name === `belfry-${name}`)
        .map(({ spec }) => spec)
      expect(others).toEqual([])
      expect([name, replicas === undefined]).toEqual([name, scaler !== undefined])
      expect(replicas ?? scaler.minReplicas ?? scaler.minReplicaCount).toBe(2)
    }
  })

  it('gives every process of Belfry more memory than its heap may have', () => {
    // V8 collects harder as its heap fills, and the kernel must not end the process before that.
    const flags = readImages().get('api')?.env.NODE_OPTIONS ?? ''
    const heapMb = [...flags.matchAll(/=(\d+)/g)].reduce((sum, [, mb]) => sum + Number(mb), 0)
    expect(heapMb).toBeGreaterThan(500)
    const containers = workloads().flatMap(containersOf)
    for (const { image, resources } of containers.filter(({ image }) => image.startsWith('belfry-'))) {
      const [, size = '', unit = ''] = /^(\d+)(Mi|Gi)$/.exec(resources.limits.memory) ?? []
      expect([image, Number(size) * (unit === 'Gi' ? 1024 : 1) * 0.8 > heapMb]).toEqual([image, true])
    }
  })

  it('starts no service before the migration', () => {
    const migration = named('Job', 'migrate-1')
    expect(migration.spec.template.spec.containers[0].args).toEqual(['deploy'])
    for (const name of services) {
      const [waiting] = named('Deployment', name).spec.template.spec.initContainers
      expect([waiting.image, waiting.args]).toEqual([migration.spec.template.spec.containers[0].image, ['wait']])
    }
  })

  it('gives every process only the variables that it knows, and all that it needs', () => {
    for (const workload of [...ofKind('Deployment'), ...ofKind('Job')]) {
      const name = componentOf(workload.metadata.labels)
      const documented = documentedVariables(name)
      const [container] = workload.spec.template.spec.containers
      for (const variable of container.env) expect(variable.valueFrom.secretKeyRef.name).toBe('belfry')
      const maps = (container.envFrom ?? []).map(({ configMapRef }: KubernetesObject) => configMapRef.name)
      const configured = maps.flatMap((map: string) => Object.keys(find('ConfigMap', map).data))
      const given = [...container.env.map((variable: KubernetesObject) => variable.name), ...configured]
      const known = documented.map(variable => variable.name)
      expect(given.filter(variable => !known.includes(variable))).toEqual([])
      // The migration does not encrypt.
      const required = documented.filter(
        variable => variable.isRequired && !(name === 'migrate' && variable.name !== 'DATABASE_URL'),
      )
      expect(given).toEqual(expect.arrayContaining(required.map(variable => variable.name)))
    }
  })

  it('gives each service its own database role, and the owner to the migration only', () => {
    const keyOf = (container: KubernetesObject, name: string) =>
      container.env.find((variable: KubernetesObject) => variable.name === name).valueFrom.secretKeyRef.key
    const [migration] = named('Job', 'migrate-1').spec.template.spec.containers
    for (const name of services) {
      const url = `${name.toUpperCase()}_DATABASE_URL`
      const { initContainers, containers } = named('Deployment', name).spec.template.spec
      for (const container of [...initContainers, ...containers]) expect(keyOf(container, 'DATABASE_URL')).toBe(url)
      expect(keyOf(migration, url)).toBe(url)
    }
    expect(keyOf(migration, 'DATABASE_URL')).toBe('DATABASE_URL')
    const [postgres] = named('StatefulSet', 'postgres')?.spec.template.spec.containers ?? []
    const variables = (postgres?.env ?? []).map((variable: KubernetesObject) => variable.name)
    expect(variables).not.toContain('POSTGRES_USER')
  })

  it('allows only traffic that a policy names', () => {
    const policies = ofKind('NetworkPolicy')
    expect(named('NetworkPolicy', 'default-deny').spec).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    })
    const outside = policies.filter(({ spec }) => JSON.stringify(spec.egress ?? []).includes('0.0.0.0/0'))
    expect(outside.map(({ spec }) => componentOf(spec.podSelector.matchLabels))).toEqual(['dispatcher'])
    const { labels } = named('Deployment', 'api').spec.template.metadata
    const reached = policies
      .filter(({ spec }) => selects(spec.podSelector, labels) && spec.egress)
      .flatMap(({ spec }) =>
        spec.egress.flatMap(({ ports }: KubernetesObject) => ports.map((one: KubernetesObject) => one.port)),
      )
    expect(reached.sort()).toEqual([53, 53, 5432, 6379])
  })

  it('keeps the dispatchers away from the cluster and from the metadata of the cloud', () => {
    const blocks = named('NetworkPolicy', 'to-targets').spec.egress.flatMap(({ to }: KubernetesObject) => to)
    const [v4, v6] = blocks.map(({ ipBlock }: KubernetesObject) => ipBlock)
    expect(v4.except).toEqual(
      expect.arrayContaining(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16']),
    )
    expect(v6.cidr).toBe('2000::/3')
  })

  it('gives the dispatchers the addresses that its services listen on', () => {
    const own = find(
      'ConfigMap',
      named('Deployment', 'dispatcher').spec.template.spec.containers[0].envFrom[1].configMapRef.name,
    )
    const listeners = services.flatMap(name =>
      named('Service', name).spec.ports.map(
        ({ port }: KubernetesObject) => `belfry-${name}.belfry.svc.cluster.local:${port}`,
      ),
    )
    expect(own.data.OWN_LISTENERS.split(',').sort()).toEqual(listeners.sort())
  })

  it('selects existing pods with every service and policy', () => {
    const pods = workloads().map(({ spec }) => spec.template.metadata.labels)
    for (const { spec, metadata } of ofKind('Service')) {
      const pod = workloads().find(({ spec: own }) =>
        selects({ matchLabels: spec.selector }, own.template.metadata.labels),
      )
      const ports = pod.spec.template.spec.containers[0].ports.map((port: KubernetesObject) => port.name)
      for (const { targetPort } of spec.ports) expect(ports, metadata.name).toContain(targetPort)
    }
    for (const { spec, metadata } of ofKind('NetworkPolicy')) {
      expect(
        pods.some(pod => selects(spec.podSelector, pod)),
        metadata.name,
      ).toBe(true)
    }
  })
})

describe('the manifests', () => {
  it('scale dispatchers on the depth of the queue, on lag and on the calls in flight', () => {
    const { triggers } = readManifest('manifests/keda.yaml').find(({ kind }) => kind === 'ScaledObject').spec
    const queries = triggers.map(({ metadata }: KubernetesObject) => metadata.query.match(/belfry_\w+/g))
    expect(queries.flat().sort()).toEqual(
      ['belfry_queue_depth', 'belfry_oldest_startable_seconds', 'belfry_slots', 'belfry_slots_taken'].sort(),
    )
    // KEDA would take an empty result for 0.
    for (const { metadata } of triggers) expect(metadata.ignoreNullValues).toBe('false')
  })

  it('have Deployments that the alert about missing replicas covers', () => {
    const alerts = readFileSync(join(repositoryRoot(), 'monitoring/prometheus/alerts.yml'), 'utf8')
    const patterns = [...alerts.matchAll(/kube_deployment_\w+\{deployment=~"([^"]+)"\}/g)].map(([, pattern]) => pattern)
    expect(patterns).toHaveLength(2)
    const deployments = readManifest('manifests/default.yaml').filter(({ kind }) => kind === 'Deployment')
    for (const { metadata } of deployments) {
      for (const pattern of patterns) expect(metadata.name).toMatch(new RegExp(`^(?:${pattern})$`))
    }
  })

  it('get the address and the images of an installation by the command of the README', async () => {
    const { stdout } = await execute('sh', ['-c', readmeCommand()], { cwd: repositoryRoot() })
    const objects = parseObjects(stdout)
    expect(objects.flatMap(findProblems)).toEqual([])
    const { version } = JSON.parse(readFileSync(join(repositoryRoot(), 'package.json'), 'utf8'))
    const images = [...JSON.stringify(objects).matchAll(/"image":"([^"]+)"/g)].map(([, image]) => image)
    expect(new Set(images.map(image => image?.replace(/belfry-\w+/, 'belfry-x')))).toEqual(
      new Set([`registry.example.com/belfry-x:${version}`]),
    )
    const [config] = objects.filter(({ kind }) => kind === 'ConfigMap')
    expect(config.data.PUBLIC_URL).toBe('https://hooks.example.org')
    const { spec } = objects.find(({ kind }) => kind === 'Ingress')
    expect([spec.rules[0].host, spec.tls[0].hosts]).toEqual(['hooks.example.org', ['hooks.example.org']])
  })

  it('try Belfry with its own stores and a secret that one command creates', async () => {
    const objects = readManifest('manifests/trial.yaml')
    const text = JSON.stringify(objects)
    const { stdout } = await execute('sh', [join(repositoryRoot(), 'k8s/make-trial-secret.sh')])
    const secret = parse(stdout)
    expect(findProblems(secret)).toEqual([])
    const referred = [...text.matchAll(/"secretKeyRef":(\{[^}]*\})/g)].map(([, reference = '']) =>
      JSON.parse(reference),
    )
    const needed = referred.filter(({ optional }) => !optional).map(({ key }) => key)
    expect(Object.keys(secret.stringData)).toEqual(expect.arrayContaining(needed))
    const hosts = objects.filter(({ kind }) => kind === 'StatefulSet').map(({ spec }) => spec.serviceName)
    const urls = Object.entries<string>(secret.stringData).filter(([key]) => key.endsWith('_URL'))
    expect([...new Set(urls.map(([, url]) => new URL(url).hostname))].sort()).toEqual(hosts.sort())
    // Argo CD starts a wave when the one before is healthy.
    const waveOf = (kind: string, name: string) => {
      const { metadata } = objects.find(object => object.kind === kind && object.metadata.name.startsWith(name))
      return Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0)
    }
    const migration = waveOf('Job', '')
    for (const kind of ['StatefulSet', 'Service']) expect(waveOf(kind, 'belfry-postgres')).toBeLessThan(migration)
    expect(waveOf('ConfigMap', 'belfry-create-owner')).toBeLessThan(migration)
    expect(waveOf('ServiceAccount', 'belfry')).toBeLessThan(migration)
    const allowed = objects.filter(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && /^belfry-to-(postgres|redis)$/.test(metadata.name),
    )
    expect(allowed).toHaveLength(2)
    for (const { spec } of allowed) expect(JSON.stringify(spec.egress)).not.toContain('ipBlock')
    expect(objects.filter(({ kind }) => kind === 'Ingress')).toEqual([])
  })
})

describe('the examples', () => {
  const read = (name: string): KubernetesObject => readManifest(`examples/${name}`)[0]
  const podLabels = readManifest('manifests/default.yaml')
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => spec.template.metadata.labels)
  const selectedBy = (policy: KubernetesObject) =>
    services.filter(name => podLabels.some(one => componentOf(one) === name && selects(policy.spec.podSelector, one)))

  it('run a maintenance command as the migration runs, with the variables of the image and the keys', () => {
    const job = read('maintenance-job.yaml')
    const migrate = readManifest('manifests/default.yaml').find(({ kind }) => kind === 'Job')
    expect(findProblems(job)).toEqual([])
    const { containers, restartPolicy: _, ...pod } = job.spec.template.spec
    const [container] = containers
    const [wanted] = migrate.spec.template.spec.containers
    expect(migrate.spec.template.spec).toMatchObject(pod)
    expect(migrate.spec.template.metadata.labels).toMatchObject(job.spec.template.metadata.labels)
    for (const name of ['image', 'resources', 'securityContext']) expect(container[name]).toEqual(wanted[name])
    expect(container.env).toEqual([
      ...wanted.env,
      { name: 'ENCRYPTION_KEYS', valueFrom: { secretKeyRef: { name: 'belfry', key: 'ENCRYPTION_KEYS' } } },
    ])
    const known = documentedVariables('migrate').map(({ name }) => name)
    for (const { name } of container.env) expect(known).toContain(name)
    expect(readFileSync(join(repositoryRoot(), 'docs/self-hosting.md'), 'utf8')).toContain(`\`${container.args[0]}\``)
  })

  it('let the processes that trace reach a collector', () => {
    const policy = read('to-collector.yaml')
    expect(findProblems(policy)).toEqual([])
    const tracing = services.filter(name =>
      documentedVariables(name).some(variable => variable.name === 'OTEL_EXPORTER_OTLP_ENDPOINT'),
    )
    expect(selectedBy(policy)).toEqual(tracing)
    expect(policy.spec.egress[0].ports).toEqual([{ port: 4318, protocol: 'TCP' }])
  })

  it('let the processes that use it reach object storage', () => {
    const policy = read('to-object-storage.yaml')
    expect(findProblems(policy)).toEqual([])
    const users = services.filter(name => documentedVariables(name).some(({ name }) => name === 'LOG_STORAGE_URL'))
    expect(selectedBy(policy)).toEqual(users.filter(name => name !== 'dispatcher')) // which only refuses it as a target
    expect(policy.spec.egress[0].ports).toEqual([{ port: 443, protocol: 'TCP' }])
  })
})

// The command that prepares a manifest for `kubectl apply`, without the file that it writes to.
function readmeCommand(): string {
  const readme = readFileSync(join(repositoryRoot(), 'k8s/README.md'), 'utf8')
  const [, command = ''] = /^ *(sed [^>]*) > \S+$/m.exec(readme) ?? []
  return command
}
