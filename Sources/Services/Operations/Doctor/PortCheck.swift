import AsyncHTTPClient
import HTTPKit
import NIOCore
import NIOHTTP1
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

    /// Free, a receiver's, or somebody else's.
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

    /// Only storehook's receiver answers so.
    private func isReceiver() async -> Bool {
        let name = host.contains(":") ? "[\(host)]" : host
        let request = HTTPClientRequest(url: "http://\(name):\(port)/webhooks/apple")
        guard let response = try? await HTTPClient.shared.execute(request, timeout: .seconds(2)),
            response.status == .methodNotAllowed,
            let body = try? await response.body.collect(upTo: 1024)
        else { return false }
        return String(buffer: body).contains("POST only")
    }
}
