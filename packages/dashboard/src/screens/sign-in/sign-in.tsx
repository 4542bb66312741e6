import type { FactorKind } from '@belfry/contract/second-factor'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { ApiProblem, messageOf } from '../../api/api-problem.ts'
import { call } from '../../api/call.ts'
import { passkeyForSignIn, signInWithPasskey } from '../../api/passkeys.ts'
import { queryOf } from '../../api/queries.ts'
import { FactorForm } from '../../forms/factor-form.tsx'
import { Form } from '../../forms/form.tsx'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths } from '../../paths.ts'
import { Button, Link } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/problem.tsx'
import { SingleSignOn, signInErrorText } from './single-sign-on.tsx'
import { useReturn } from './use-return.ts'

export function SignIn() {
  const { target, open } = useReturn()
  const { data: registration } = useQuery(queryOf('getRegistration'))
  const [waiting, setWaiting] = useState<{ token: string; factors: FactorKind[] } | null>(null)
  const byPasskey = useMutation({ mutationFn: signInWithPasskey, meta: { isSignIn: true }, onSuccess: open })
  const { data: methods } = useQuery(queryOf('getSignInMethods'))
  const [params] = useSearchParams()
  if (waiting) {
    return (
      <PlainLayout
        title="Second factor"
        foot={
          <Link to={paths.signIn(target)} onClick={() => setWaiting(null)}>
            Back to sign-in
          </Link>
        }
      >
        <FactorForm
          factors={waiting.factors}
          action="Sign in"
          readPasskey={() => passkeyForSignIn(waiting.token)}
          submit={proof => call('loginWithFactor', { body: { sign_in_token: waiting.token, ...proof } })}
          onDone={open}
        />
      </PlainLayout>
    )
  }
  return (
    <PlainLayout
      title="Sign in"
      foot={
        registration?.registration === 'open' &&
        methods?.password && (
          <>
            New to Belfry? <Link to={paths.register(target)}>Create an account</Link>
          </>
        )
      }
    >
      <FormProblem problem={signInErrorText(params.get('error'))} />
      {methods && <SingleSignOn methods={methods} returnTo={target} />}
      {methods?.password !== false && (
        <>
          <Form
            isSignIn
            read={field => ({ email: field('email').trim(), password: field('password') })}
            check={body => ({
              email: body.email === '' && 'Enter your email address.',
              password: body.password === '' && 'Enter your password.',
            })}
            submit={body =>
              call('login', { body }).catch((error: unknown) => {
                const isWaiting = error instanceof ApiProblem && error.code === 'second_factor_required'
                if (!isWaiting) throw error
                // Members of this code.
                const { factors, sign_in_token: token } = error.body as { factors: FactorKind[]; sign_in_token: string }
                setWaiting({ token, factors })
                return null
              })
            }
            onDone={session => session && open()}
            action="Sign in"
            isWide
            more={<Link to={paths.forgotPassword()}>Forgot your password?</Link>}
          >
            <TextField label="Email" name="email" type="email" autoComplete="username" autoFocus />
            <TextField label="Password" name="password" type="password" autoComplete="current-password" />
          </Form>
          <Button isWide isPending={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
            Use a passkey
          </Button>
          <FormProblem problem={byPasskey.error && messageOf(byPasskey.error)} />
        </>
      )}
    </PlainLayout>
  )
}
