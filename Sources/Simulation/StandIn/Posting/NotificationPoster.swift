import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// Posts notifications as Apple does, several at a time, and reports each attempt.
struct NotificationPoster: Sendable {
    private let client: HTTPClient
    private let url: String

    /// How many are under way at a time.
    static let width = 16

    init(url: String) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.width
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.url = url
    }

    func shutdown() async { try? await client.shutdown() }

    /// Posts what is due, and reports each result to the store.
    func post(_ posts: [(index: Int, body: [UInt8])], _ store: SimulatedAppStore) async {
        await withTaskGroup { group in
            for post in posts {
                group.addTask {
                    guard let (result, isFinal) = await attempt(post.body) else {
                        return await store.notPosted(post.index)
                    }
                    await store.posted(post.index, result, isFinal: isFinal)
                }
            }
        }
    }

    /// Apple's code for the result of an attempt, and whether the attempt is the last: a 4xx is not tried again. Nil
    /// where the stand-in itself cancelled it.
    private func attempt(_ body: [UInt8]) async -> (String, Bool)? {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "storehook-app-store")
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await client.execute(request, timeout: .seconds(10))
            _ = try? await response.body.collect(upTo: 1 << 16)
            let status = response.status.code
            if (200...206).contains(status) { return ("SUCCESS", true) }
            return ("UNSUCCESSFUL_HTTP_RESPONSE_CODE", (400...499).contains(status))
        } catch let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout {
            return ("TIMED_OUT", false)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed {
            return ("PREMATURE_CLOSE", false)
        } catch let error as HTTPClientError where error == .tlsHandshakeTimeout {
            return ("TLS_ISSUE", false)
        } catch is NIOSSLError {
            return ("TLS_ISSUE", false)
        } catch is NIOSSLExtraError {
            return ("TLS_ISSUE", false)
        } catch is BoringSSLError {
            return ("TLS_ISSUE", false)
        } catch is HTTPParserError {
            return ("INVALID_RESPONSE", false)
        } catch {
            return Task.isCancelled ? nil : ("SOCKET_ISSUE", false)
        }
    }
}
