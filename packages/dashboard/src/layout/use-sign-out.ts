import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { messageOf } from '../api/api-problem.ts'
import { call } from '../api/call.ts'
import { dropDrafts } from '../forms/kept-drafts.ts'
import { paths } from '../paths.ts'
import { useToast } from '../ui/toast.tsx'

/** Returns a function that ends the session, and the one at the identity provider. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  return async () => {
    try {
      const { url } = await call('logoutOidc')
      dropDrafts()
      if (url !== null) return location.assign(url)
      // The page that is left needs its data until then.
      await navigate(paths.signIn(), { flushSync: true })
      client.clear()
    } catch (error) {
      toast(messageOf(error), 'bad')
    }
  }
}
