import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { createQueryClient } from './api/query-client.ts'
import { StepUp } from './forms/step-up.tsx'
import './layout/early-keys.ts'
import { paths } from './paths.ts'
import { createRoutes } from './router.tsx'
import './styles/tokens.css'
import './styles/base.css'
import { ToastProvider } from './ui/toast.tsx'

const client = createQueryClient(async () => {
  const { pathname, search } = window.location
  if (pathname.startsWith('/sign-in')) return
  await router.navigate(paths.signIn(pathname + search), { replace: true, flushSync: true })
  // The page that was left needs its data until then.
  client.clear()
})
const router = createBrowserRouter(createRoutes(client))

// Handles the keys of every page. Loaded after the first script; `early-keys.ts` keeps the keys that are pressed until then.
void import('./layout/keyboard.tsx').catch(() => {})

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <ToastProvider>
          <StepUp />
          <Suspense>
            <RouterProvider router={router} />
          </Suspense>
        </ToastProvider>
      </QueryClientProvider>
    </StrictMode>,
  )
}
