/**
 * Classes of the frame, which is in the HTML before any code is loaded (plugins/pages.ts), then in the app. On narrower
 * screens the navigation has rows of its own below the name, so that every view is visible.
 */
export const FRAME_CLASSES = {
  top: "top flex items-center gap-x-6 border-b border-line bg-surface px-6 max-[1241px]:flex-wrap",
  brand:
    "brand inline-flex min-h-10 items-center gap-2 font-bold text-ink no-underline [&>svg]:text-[20px] [&>svg]:text-accent max-[1241px]:mr-auto",
  name: "max-[621px]:hidden",
  nav: "flex-1 max-[1241px]:order-1 max-[1241px]:basis-full",
  list: "flex gap-x-4 max-[1241px]:flex-wrap max-[1241px]:gap-x-3",
};
