import NIOCore
import NIOSSL

extension Channel {
    /// Closes it at once, from any thread: a TLS goodbye would wait for the handshake, or for a client
    /// that does not read.
    func cutOff() {
        eventLoop.execute {
            if let tls = try? self.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                self.close(promise: nil)
            }
        }
    }
}
