import pandas

from runner import execute

orders = pandas.DataFrame({"city": ["Oslo", "Bergen", "Oslo"], "sum": [10, 20, 5]})
result = execute("result = orders.groupby('city').sum()", context={"orders": orders})
print(result.value)
