import NIOCore
import NIOEmbedded
import NIOSSL
import NIOTLS
import TestSupport
import Testing

@testable import HTTPKit

@Suite("The deadline of a TLS handshake")
struct HandshakeDeadlineTests {
    private func withConnection(_ body: (EmbeddedChannel) throws -> Void) async throws {
        try await CertificateFiles.with(try ServerCertificate()) { files in
            let identity = try TLSIdentity(certificateFile: files.certificateFile, keyFile: files.keyFile)
            try body(connection(identity))
        }
    }

    private func connection(_ identity: TLSIdentity) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([
            NIOSSLServerHandler(context: identity.context), HandshakeDeadline(.seconds(10)),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test("ends a connection that never finishes it, whether it says something or nothing", arguments: [true, false])
    func never(sayingSomething: Bool) async throws {
        try await withConnection { channel in
            // The beginning of a record that announces 512 bytes.
            if sayingSomething {
                try channel.writeInbound(ByteBuffer(bytes: [0x16, 0x03, 0x01, 0x02, 0x00, 0x01]))
            }
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            #expect(channel.isActive)
            // What the peer is given to say goodbye comes on top.
            channel.embeddedEventLoop.advanceTime(by: .seconds(2))
            #expect(!channel.isActive)
        }
    }

    @Test("is over with the handshake")
    func over() async throws {
        try await withConnection { channel in
            channel.pipeline.context(handlerType: NIOSSLServerHandler.self).whenSuccess {
                $0.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
            }
            channel.embeddedEventLoop.advanceTime(by: .hours(1))
            #expect(channel.isActive)
        }
    }
}
