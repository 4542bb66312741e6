import type { SigningSecret } from '@belfry/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ban, RefreshCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { messageOf } from '../../api/api-problem.ts'
import { revokeSigningSecret, rotateSigningSecret, signingSecretsQuery } from '../../api/secrets.ts'
import { PageFor, useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { HiddenText } from './hidden-text.tsx'
import styles from './settings.module.css'

const example = `import { webhooks } from '@belfry/client'

const event = await webhooks.verify(rawBody, request.headers, process.env.BELFRY_SIGNING_SECRET)`

export function SigningSecrets(): ReactNode {
  return (
    <PageFor right="signing_secret.read">
      <SigningSecretList />
    </PageFor>
  )
}

function SigningSecretList(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useQuery(signingSecretsQuery(workspace.id))
  const [isRotating, setIsRotating] = useState(false)
  const [revoking, setRevoking] = useState<SigningSecret | null>(null)
  const change = useChange(() => {
    setIsRotating(false)
    setRevoking(null)
  })
  const rotateRefusal = useRefusal('signing_secret.rotate')
  const revokeRefusal = useRefusal('signing_secret.revoke')
  return (
    <>
      <PageHeader
        title="Signing secrets"
        description="Every delivery is signed as Standard Webhooks says, so that a receiver knows that it comes from this workspace."
        actions={
          <Button icon={<RefreshCw size={16} />} refusal={rotateRefusal} onClick={() => setIsRotating(true)}>
            Rotate
          </Button>
        }
      />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      <Table
        label="Signing secrets"
        rows={list.data}
        rowKey={({ id }) => id}
        columns={[
          { id: 'secret', header: 'Secret', cell: ({ secret }) => <HiddenText text={secret} name="signing secret" /> },
          {
            id: 'state',
            header: 'State',
            cell: ({ expires_at }) =>
              expires_at ? (
                <Badge tone="warn">
                  Signs too, ends <RelativeTime at={expires_at} />
                </Badge>
              ) : (
                <Badge tone="good">Current</Badge>
              ),
          },
          { id: 'created', header: 'Created', isExtra: true, cell: one => <RelativeTime at={one.created_at} /> },
          {
            id: 'actions',
            header: <span className="visually-hidden">Actions</span>,
            align: 'end',
            cell: one =>
              one.expires_at && (
                <IconButton
                  label="Revoke the old secret now"
                  icon={<Ban size={16} />}
                  refusal={revokeRefusal}
                  onClick={() => setRevoking(one)}
                />
              ),
          },
        ]}
      />
      <section className={styles.section}>
        <h2>Verify a delivery</h2>
        <p className={styles.note}>
          Check <code>webhook-signature</code> over the very bytes that arrived. Any library for Standard Webhooks does;
          so does ours:
        </p>
        <CodeBlock text={example} label="Verifying a delivery" />
      </section>
      <ConfirmDialog
        isOpen={isRotating}
        onClose={() => setIsRotating(false)}
        title="Rotate the signing secret?"
        description="A new secret signs from now on. The current one goes on signing beside it for 24 hours, so that receivers have time to change."
        action="Rotate"
        isPending={change.isPending}
        onConfirm={() => change.mutate({ what: 'rotate' })}
      />
      <ConfirmDialog
        isOpen={revoking !== null}
        onClose={() => setRevoking(null)}
        title="Revoke the old secret now?"
        description="Receivers that still verify with it refuse deliveries from then on."
        action="Revoke"
        isDangerous
        isPending={change.isPending}
        onConfirm={() => revoking && change.mutate({ what: 'revoke', id: revoking.id })}
      />
    </>
  )
}

type Change = { what: 'rotate' } | { what: 'revoke'; id: string }

function useChange(onDone: () => void) {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const say = useToast()
  return useMutation({
    mutationFn: async (change: Change) => {
      if (change.what === 'rotate') await rotateSigningSecret(workspace.id)
      else await revokeSigningSecret(workspace.id, change.id)
    },
    async onSuccess(_, { what }) {
      onDone()
      say(what === 'rotate' ? 'A new secret signs from now on.' : 'The old secret signs no more.')
      await client.invalidateQueries({ queryKey: ['signing-secrets', workspace.id] })
    },
    onError: error => say(messageOf(error), 'bad'),
  })
}
