import type { SubscriptionSecret } from '@belfry/contract/secret'
import type { Subscription } from '@belfry/contract/subscription'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import {
  removeSubscriptionSecrets,
  rotateSubscriptionSecret,
  subscriptionSecretsQuery,
} from '../../api/subscriptions.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { useChange } from '../../forms/use-change.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { Problem } from '../../ui/problem.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { HiddenSecret } from '../settings/hidden-secret.tsx'

/** The signing secrets that a subscription has of its own. */
export function SubscriptionSecrets({ subscription }: { subscription: Subscription }): ReactNode {
  const { workspace } = useWorkspace()
  const secrets = useQuery(subscriptionSecretsQuery(workspace.id, subscription.id))
  return (
    <>
      {secrets.error && <Problem error={secrets.error} onRetry={() => void secrets.refetch()} />}
      {secrets.data && <Secrets subscription={subscription} secrets={secrets.data} />}
    </>
  )
}

type SecretsProps = { subscription: Subscription; secrets: readonly SubscriptionSecret[] }

function Secrets({ subscription, secrets }: SecretsProps): ReactNode {
  const { workspace } = useWorkspace()
  const [isRemoving, setIsRemoving] = useState(false)
  const rotateRefusal = useRefusal('signing_secret.rotate')
  const revokeRefusal = useRefusal('signing_secret.revoke')
  const affects = [['subscription-secrets', subscription.id]]
  const hasOwn = secrets.length > 0
  const rotate = useChange({
    run: () => rotateSubscriptionSecret(workspace.id, subscription.id),
    affects,
    done: () => (hasOwn ? 'Signing secret rotated' : 'Signing secret created'),
  })
  return (
    <>
      {hasOwn ? (
        <DefinitionList
          rows={secrets.map(({ secret, expires_at }, i) => [
            i === 0 ? 'Current' : i === 1 ? 'Previous' : `Previous ${i}`,
            <>
              <HiddenSecret text={secret} />
              {expires_at && (
                <>
                  {' '}
                  expires <RelativeTime at={expires_at} />
                </>
              )}
            </>,
          ])}
        />
      ) : (
        <p>The signing secret of the workspace signs its calls.</p>
      )}
      <DialogActions>
        {hasOwn && (
          <Button refusal={revokeRefusal} onClick={() => setIsRemoving(true)}>
            Use the workspace's secret
          </Button>
        )}
        <Button
          kind="primary"
          refusal={rotateRefusal}
          isPending={rotate.isPending}
          onClick={() => rotate.mutate(undefined)}
        >
          {hasOwn ? 'Rotate' : 'Create secret'}
        </Button>
      </DialogActions>
      <ConfirmChange
        of={isRemoving || null}
        onClose={() => setIsRemoving(false)}
        title={() => "Use the workspace's signing secret?"}
        description="The secrets of this subscription are deleted, and the receiver must verify with the one of the workspace."
        action="Delete secrets"
        run={() => removeSubscriptionSecrets(workspace.id, subscription.id)}
        affects={affects}
        done={() => 'Signing secrets deleted'}
      />
    </>
  )
}
