import type { SigningSecret } from '@belfry/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ban, Eye, EyeOff, RefreshCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { messageOf } from '../../api/api-problem.ts'
import { revokeSigningSecret, rotateSigningSecret, signingSecretsQuery } from '../../api/secrets.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './settings.module.css'

const example = `import { webhooks } from '@belfry/client'

const event = await webhooks.verify(rawBody, request.headers, process.env.BELFRY_SIGNING_SECRET)`

export function SigningSecrets(): ReactNode {
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
        description="Deliveries are signed as specified by Standard Webhooks, so receivers can verify that they come from this workspace."
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
          { id: 'secret', header: 'Secret', cell: ({ secret }) => <HiddenSecret text={secret} /> },
          {
            id: 'state',
            header: 'Status',
            cell: ({ expires_at }) =>
              expires_at ? (
                <Badge tone="warn">
                  Previous, expires <RelativeTime at={expires_at} />
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
                  label="Revoke previous secret"
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
          Check <code>webhook-signature</code> against the raw request body. Use any Standard Webhooks library, or ours:
        </p>
        <CodeBlock text={example} label="verification example" />
      </section>
      <ConfirmDialog
        isOpen={isRotating}
        onClose={() => setIsRotating(false)}
        title="Rotate the signing secret?"
        description="Deliveries are signed with a new secret. For 24 hours they are also signed with the current one, so receivers have time to switch."
        action="Rotate"
        isPending={change.isPending}
        onConfirm={() => change.mutate({ what: 'rotate' })}
      />
      <ConfirmDialog
        isOpen={revoking !== null}
        onClose={() => setRevoking(null)}
        title="Revoke the previous secret?"
        description="Receivers that still verify with it will reject deliveries."
        action="Revoke"
        isDangerous
        isPending={change.isPending}
        onConfirm={() => revoking && change.mutate({ what: 'revoke', id: revoking.id })}
      />
    </>
  )
}

// Hidden until the user shows it. It can be copied while hidden.
function HiddenSecret({ text }: { text: string }): ReactNode {
  const [isShown, setIsShown] = useState(false)
  return (
    <>
      <code className={styles.mono}>{isShown ? text : `${text.slice(0, 6)}••••••••••••`}</code>{' '}
      <IconButton
        size="small"
        label={isShown ? 'Hide signing secret' : 'Show signing secret'}
        icon={isShown ? <EyeOff size={15} /> : <Eye size={15} />}
        onClick={() => setIsShown(!isShown)}
      />
      <CopyButton text={text} label="Copy signing secret" />
    </>
  )
}

type Change = { what: 'rotate' } | { what: 'revoke'; id: string }

function useChange(onDone: () => void) {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: async (change: Change) => {
      if (change.what === 'rotate') await rotateSigningSecret(workspace.id)
      else await revokeSigningSecret(workspace.id, change.id)
    },
    async onSuccess(_, { what }) {
      onDone()
      toast(what === 'rotate' ? 'Signing secret rotated' : 'Previous secret revoked')
      await client.invalidateQueries({ queryKey: ['signing-secrets', workspace.id] })
    },
    onError: error => toast(messageOf(error), 'bad'),
  })
}
