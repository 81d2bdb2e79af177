import HTTPKit
import NIOCore
import NIOPosix

/// Whether a receiver could listen, or one does.
package struct PortCheck: Sendable {
    private let host: String
    private let port: Int

    /// A check of the address that a receiver listens on, or is to.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Whether the port is free, a receiver's, or another process's.
    package func finding() async -> Finding {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try await channel.close()
            return .ok("port", "\(host):\(port) is free for a receiver")
        } catch let error as IOError {
            return await finding(error)
        } catch {
            return failed(nil)
        }
    }

    private func finding(_ error: IOError) async -> Finding {
        if error.errnoCode == EADDRINUSE {
            let owner = PortOwner.find(port: port)
            if await isReceiver() || owner?.name == "storehook" {
                return .ok("port", "\(host):\(port) is a receiver's" + (owner.map { ", process \($0.id)" } ?? ""))
            }
        }
        return failed(error.errnoCode)
    }

    private func failed(_ code: Int32?) -> Finding {
        let failure = ListenFailure(host: host, port: port, code: code)
        return .failed("port", "a receiver cannot listen on " + PortAdvice(failure, option: "--port").text)
    }

    private func isReceiver() async -> Bool {
        let name = host.contains(":") ? "[\(host)]" : host
        var request = OutboundRequest("GET", "http://\(name):\(port)/webhooks/apple")
        request.answerBody = .whole(upTo: 1024)
        let answer = try? await OutboundClient.send(request, limits: OutboundClient.Limits(total: .seconds(2)))
        return answer.map(ReceiverAnswer.isReceivers) ?? false
    }
}
