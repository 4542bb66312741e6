import type { SignInError, SignInMethods } from '@belfry/contract/sign-in'
import { useMutation } from '@tanstack/react-query'
import { messageOf } from '../../api/api-problem.ts'
import { call } from '../../api/call.ts'
import { Button } from '../../ui/button.tsx'
import { FormProblem } from '../../ui/problem.tsx'
import styles from './single-sign-on.module.css'

/** The button that opens the page of the issuer. Hidden without an issuer. */
export function SingleSignOn({ methods, returnTo }: { methods: SignInMethods; returnTo: string }) {
  const start = useMutation({
    mutationFn: () => call('startOidc', { body: { return_to: returnTo } }),
    onSuccess: ({ url }) => location.assign(url),
  })
  if (!methods.oidc) return null
  const { name, available } = methods.oidc
  return (
    <div className={styles.part}>
      {!available && <p role="status">{capital(name)} does not answer at the moment. You can try it anyway.</p>}
      <FormProblem problem={start.error && messageOf(start.error)} />
      <Button
        isWide
        kind={methods.password ? 'secondary' : 'primary'}
        isPending={start.isPending}
        onClick={() => start.mutate()}
      >
        Continue with {name}
      </Button>
      {methods.password && (
        <p className={styles.or}>
          <span>or</span>
        </p>
      )}
    </div>
  )
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const texts: Record<SignInError, string> = {
  denied: 'You cancelled the sign-in.',
  domain_refused: 'Users with an email address of this domain cannot sign in here.',
  email_missing: 'Your identity provider sent no email address. Ask its administrator to release it to Belfry.',
  email_unverified: 'Your identity provider has not verified your email address.',
  expired: 'The sign-in took too long, or began in another browser. Start again.',
  groups_missing: 'You are in too many groups for your identity provider to send them. Ask its administrator.',
  invalid: 'The response of the identity provider could not be verified. Start again.',
  linked_to_another: 'The account with your email address belongs to another identity. Ask the operator of Belfry.',
  member_limit: 'Your organization has as many members as its tier allows. Ask its owner.',
  no_account: 'You have no account here. Ask a member of your organization for an invitation.',
  outage: 'Belfry could not reach its database. Try again in a moment.',
  rate_limited: 'Too many sign-ins came from your address. Try again later.',
  refused: 'The identity provider refused the sign-in. Start again, or ask the operator of Belfry.',
  suspended: 'Your account is suspended.',
  unavailable: 'The identity provider does not answer. Try again later.',
}

/** Returns the text for the error of a sign-in through the issuer; null for a code that Belfry does not send. */
export function signInErrorText(code: string | null): string | null {
  return code !== null && Object.hasOwn(texts, code) ? texts[code as SignInError] : null
}
