import { stub } from "./stub.js";

/** Vite serves the page and the stub. */
export default {
  plugins: [
    {
      name: "stub",
      configureServer: (server) => void server.middlewares.use(stub),
      configurePreviewServer: (server) => void server.middlewares.use(stub),
    },
  ],
};
