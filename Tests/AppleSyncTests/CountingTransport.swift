import AppStoreServerAPI
import Synchronization

/// A way to Apple on which requests are counted.
final class CountingTransport: AppStoreTransport {
    private let base: any AppStoreTransport
    private let urls = Mutex<[String]>([])

    init(base: any AppStoreTransport) { self.base = base }

    /// How many requests had this in their URL.
    func count(of part: String) -> Int { urls.withLock { $0.count { $0.contains(part) } } }

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        urls.withLock { $0.append(request.url) }
        return try await base.send(request)
    }
}
