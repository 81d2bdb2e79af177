#if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking

    /// A session whose tasks keep to the address that they were made for.
    ///
    /// FoundationNetworking asks a delegate about redirects only where no completion handler waits for the task, and follows them
    /// otherwise, with all headers: so a delegate collects the answers.
    final class DelegatedSession: Sendable {
        private let session: URLSession
        private let answers = Answers()

        init(_ configuration: URLSessionConfiguration) {
            session = URLSession(configuration: configuration, delegate: answers, delegateQueue: nil)
        }

        deinit { session.finishTasksAndInvalidate() }

        /// Sends a request and waits for the whole answer.
        /// - Throws: `URLError`.
        func data(for request: URLRequest) async throws -> (Data, URLResponse) {
            let task = session.dataTask(with: request)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    answers.wait(for: task, continuation)
                    task.resume()
                }
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// What tasks have received, and who waits for it.
    private final class Answers: NSObject, URLSessionDataDelegate, @unchecked Sendable {
        typealias Waiter = CheckedContinuation<(Data, URLResponse), any Error>

        // Guarded by the lock.
        private var waiting: [Int: (waiter: Waiter, data: Data)] = [:]
        private let lock = NSLock()

        func wait(for task: URLSessionTask, _ waiter: Waiter) {
            lock.withLock { waiting[task.taskIdentifier] = (waiter, Data()) }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            lock.withLock { waiting[dataTask.taskIdentifier]?.data.append(data) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let (waiter, data) = lock.withLock({ waiting.removeValue(forKey: task.taskIdentifier) }) else {
                return
            }
            if let response = task.response, error == nil {
                waiter.resume(returning: (data, response))
            } else {
                waiter.resume(throwing: error ?? URLError(.badServerResponse))
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
        ) { completionHandler(nil) }
    }
#endif
