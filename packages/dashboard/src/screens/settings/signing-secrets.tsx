import type { SigningSecret } from '@belfry/contract/secret'
import { useQuery } from '@tanstack/react-query'
import { Ban, RefreshCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { allOf } from '../../api/queries.ts'
import { ChangeSwitch, ConfirmButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { AbsoluteTime, RelativeTime } from '../../ui/time.tsx'
import { HiddenSecret } from './hidden-secret.tsx'
import styles from './settings.module.css'

const example = `import { webhooks } from '@belfry/client'

const event = await webhooks.verify(rawBody, request.headers, process.env.BELFRY_SIGNING_SECRET)`

export function SigningSecrets(): ReactNode {
  const { workspace } = useWorkspace()
  return (
    <ResourceList
      title="Signing secrets"
      description="Deliveries are signed as specified by Standard Webhooks, so receivers can verify that they come from this workspace."
      list={useQuery(allOf('listSigningSecrets', { ws: workspace.id }))}
      empty={{ title: 'No signing secrets' }}
      buttons={
        <ConfirmButton
          text="Rotate"
          icon={<RefreshCw size={16} />}
          right="signing_secret.rotate"
          title="Rotate the signing secret?"
          description="Deliveries are signed with a new secret. For 24 hours they are also signed with the current one, so receivers have time to switch."
          action="Rotate"
          isDangerous={false}
          run={() => call('rotateSigningSecret', { ws: workspace.id })}
          done="Signing secret rotated"
        />
      }
      columns={[
        { header: 'Secret', cell: ({ secret }) => <HiddenSecret text={secret} /> },
        {
          header: 'Status',
          cell: ({ expires_at }) =>
            expires_at ? (
              <Badge tone="warn">
                Previous, expires <AbsoluteTime at={expires_at} />
              </Badge>
            ) : (
              <Badge tone="good">Current</Badge>
            ),
        },
        ...(workspace.asymmetric_signatures
          ? [
              {
                header: 'Public key',
                isExtra: true,
                cell: ({ public_key }: SigningSecret) => (
                  <span className={styles.secret}>
                    <code>{public_key.slice(0, 16)}…</code>
                    <CopyButton text={public_key} label="Copy public key" />
                  </span>
                ),
              },
            ]
          : []),
        { header: 'Created', isExtra: true, cell: one => <RelativeTime at={one.created_at} /> },
      ]}
      actions={({ id, expires_at }) =>
        expires_at && (
          <ConfirmButton
            label="Revoke previous secret"
            icon={<Ban size={16} />}
            title="Revoke the previous secret?"
            description="Receivers that still verify with it will reject deliveries."
            action="Revoke"
            right="signing_secret.revoke"
            run={() => call('revokeSigningSecret', { ws: workspace.id, secret: id })}
            done="Previous secret revoked"
          />
        )
      }
    >
      <div className={styles.section}>
        <ChangeSwitch
          label="Also sign with Ed25519"
          hint="Receivers verify with the public key; no shared secret needed."
          isOn={workspace.asymmetric_signatures}
          refusal={useRefusal('workspace.change')}
          run={isOn => call('updateWorkspace', { ws: workspace.id, body: { asymmetric_signatures: isOn } })}
        />
      </div>
      <section className={styles.section}>
        <h2>Verify a delivery</h2>
        <p className={styles.note}>
          Check <code>webhook-signature</code> against the raw request body. Use any Standard Webhooks library, or ours:
        </p>
        <CodeBlock text={example} label="verification example" />
      </section>
    </ResourceList>
  )
}
