import { useQueryClient } from '@tanstack/react-query'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import { returnPath } from '../../paths.ts'

/**
 * Returns the page to open after sign-in, and a function that opens it. It is the path in `?return=`, with the fragment of the
 * current page.
 */
export function useReturn() {
  const [params] = useSearchParams()
  const { hash } = useLocation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const target = returnPath(params.get('return')) + hash
  const open = async () => {
    client.clear()
    await navigate(target, { replace: true })
  }
  return { target, open }
}
