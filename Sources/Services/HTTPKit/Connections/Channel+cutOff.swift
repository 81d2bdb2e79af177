import NIOCore
import NIOSSL

extension Channel {
    /// Closes it at once, from any thread: a goodbye by TLS would have to wait for the handshake, or for who does not read.
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
