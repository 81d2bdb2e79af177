import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization
import TestSupport

/// Speaks TLS with one certificate, keeps what it hears, and answers each read with `{}` where that is HTTP/1.1.
final class TLSServer: Sendable {
    private final class Log: Sendable {
        let bytes = Mutex<[UInt8]>([])
        let version = Mutex<TLSVersion?>(nil)
    }

    let port: Int
    private let channel: any Channel
    private let log: Log

    private init(_ channel: any Channel, _ log: Log) {
        self.channel = channel
        self.log = log
        port = channel.localAddress?.port ?? 0
    }

    /// Starts one.
    /// - Parameter application: by ALPN: `http/1.1`, or `h2`; of that it says the first frame and no more.
    static func start(
        _ certificate: ServerCertificate, speaking application: String = "http/1.1",
        from least: TLSVersion = .tlsv1, to most: TLSVersion = .tlsv13
    ) async throws -> TLSServer {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8)).map {
                .certificate($0)
            }, privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(certificate.key.utf8), format: .pem)))
        configuration.minimumTLSVersion = least
        configuration.maximumTLSVersion = most
        configuration.applicationProtocols = [application]
        let context = try NIOSSLContext(configuration: configuration)
        let log = Log()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context), Hearer(log, isHTTP2: application == "h2"))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        return TLSServer(channel, log)
    }

    /// All that came through the handshake.
    var heard: [UInt8] { log.bytes.withLock(\.self) }
    /// The version of the last handshake.
    var version: TLSVersion? { log.version.withLock(\.self) }

    /// Whether a request was heard: a head of HTTP/1.1, or a frame of HTTP/2 that opens a stream (RFC 9113, section 4.1).
    var wasAsked: Bool {
        let bytes = heard
        let preface = 24
        guard bytes.starts(with: "PRI * HTTP/2.0".utf8) else { return !bytes.isEmpty }
        var start = preface
        while start + 9 <= bytes.count {
            if bytes[start + 3] == 1 { return true }
            start += 9 + bytes[start..<start + 3].reduce(0) { $0 << 8 | Int($1) }
        }
        return false
    }

    func stop() async throws { try await channel.close() }

    private final class Hearer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let log: Log
        private let isHTTP2: Bool

        init(_ log: Log, isHTTP2: Bool) {
            self.log = log
            self.isHTTP2 = isHTTP2
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case TLSUserEvent.handshakeCompleted = event else {
                return context.fireUserInboundEventTriggered(event)
            }
            let version = try? context.pipeline.syncOperations.nioSSL_tlsVersion()
            log.version.withLock { $0 = version }
            // An empty SETTINGS.
            if isHTTP2 { send(context, [0, 0, 0, 4, 0, 0, 0, 0, 0]) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = Array(unwrapInboundIn(data).readableBytesView)
            log.bytes.withLock { $0 += bytes }
            if !isHTTP2 { send(context, Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".utf8)) }
        }

        private func send(_ context: ChannelHandlerContext, _ bytes: [UInt8]) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
