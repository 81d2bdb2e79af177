import AsyncHTTPClient
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
            return .failed("port", "\(host):\(port) cannot be listened on: no such address; see --host")
        }
    }

    private func finding(_ error: IOError) async -> Finding {
        switch error.errnoCode {
        case EADDRINUSE:
            let owner = PortOwner.find(port: port)
            if await isReceiver() || owner?.name == "storehook" {
                return .ok("port", "\(host):\(port) is a receiver's" + (owner.map { ", process \($0.id)" } ?? ""))
            }
            let who =
                owner.map { "\($0.name), process \($0.id)" } ?? "a process that this user may not see (root: ss -ltnp)"
            return .failed("port", "\(host):\(port) is taken by \(who): stop it, or give the receiver another --port")
        case EACCES:
            return .failed("port", "\(host):\(port) needs a right that this user lacks: take a port from 1024 on")
        case EADDRNOTAVAIL:
            return .failed("port", "\(host) is no address of this machine; see --host")
        default:
            return .failed("port", "\(host):\(port) cannot be listened on: \(error)")
        }
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
