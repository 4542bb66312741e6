import { useInfiniteQuery } from '@tanstack/react-query'
import { Trash2, Workflow } from 'lucide-react'
import type { ReactNode } from 'react'
import { deleteFederatedCredential, federatedCredentialsQuery } from '../../api/federated-credentials.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { ConfirmButton } from '../../layout/row-buttons.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { RelativeTime } from '../../ui/time.tsx'
import { FederatedCredentialForm } from './federated-credential-form.tsx'
import { scopeText } from './scope-text.ts'
import styles from './settings.module.css'

export function FederatedCredentials(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useInfiniteQuery(federatedCredentialsQuery(workspace.id))
  const deleteRefusal = useRefusal('federated_credential.delete')
  return (
    <ResourceList
      title="Federated credentials"
      description="CI jobs exchange their OpenID Connect tokens for an API key that expires within an hour, so no key is stored in CI."
      list={list}
      rows={list.data?.items}
      rowKey={({ id }) => id}
      create={{
        label: 'New credential',
        title: 'New federated credential',
        refusal: useRefusal('federated_credential.create'),
        form: close => <FederatedCredentialForm onDone={close} />,
      }}
      empty={{
        icon: Workflow,
        title: 'No federated credentials yet',
        children:
          'Trust the jobs of a repository on GitHub Actions, GitLab CI or another service with OpenID Connect tokens.',
      }}
      columns={[
        {
          id: 'name',
          header: 'Name',
          cell: ({ name, id }) => (
            <span className={styles.twoLines}>
              {name}
              <span>{id}</span>
            </span>
          ),
        },
        {
          id: 'trusts',
          header: 'Trusted jobs',
          isExtra: true,
          cell: ({ issuer, conditions }) => (
            <span className={styles.twoLines}>
              {new URL(issuer).host}
              {Object.entries(conditions).map(([claim, value]) => (
                <span key={claim}>
                  {claim}: {value}
                </span>
              ))}
            </span>
          ),
        },
        {
          id: 'access',
          header: 'Access',
          isExtra: true,
          cell: ({ scopes, lifetime_ms }) => (
            <span className={styles.twoLines}>
              {scopeText(scopes)}
              <span>for {Math.round(lifetime_ms / 60_000)} min</span>
            </span>
          ),
        },
        {
          id: 'used',
          header: 'Last used',
          isExtra: true,
          cell: ({ last_used_at: at }) => (at ? <RelativeTime at={at} /> : 'Never'),
        },
      ]}
      actions={({ id, name }) => (
        <ConfirmButton
          label={`Delete ${name}`}
          icon={<Trash2 size={16} />}
          description="Its jobs get no more API keys, and the keys that they have are revoked."
          action="Delete credential"
          refusal={deleteRefusal}
          run={() => deleteFederatedCredential(workspace.id, id)}
          affects={[['federated-credentials', workspace.id]]}
          done={`${name} deleted`}
        />
      )}
    />
  )
}
